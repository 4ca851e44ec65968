#!/bin/sh
# Draws docs/flame.svg: where the time of one large fit goes. Needs Linux's perf, and inferno (`cargo install inferno`).
set -eu
cd "$(dirname "$0")/.."
cargo build -q --release -p katoms-bench --bin fit
folder=target/flame
mkdir -p "$folder"
# On one thread: what a second one has taken over does not know for whom it works, and would be missing.
RAYON_NUM_THREADS=1 perf record -e cpu-clock -F 499 --call-graph dwarf,16384 -o "$folder/perf.data" \
    target/release/fit 3000 80000 200 5
# The problem is drawn and the memory measured before the fit: neither belongs to it. What starts threads and hands out
# work says nothing either, and names are told without modules and types.
perf script -i "$folder/perf.data" --no-inline | inferno-collapse-perf |
    grep -v -e 'simulate' -e 'seconds_of_a_read' -e 'reading' | grep -e 'katoms' -e 'gemm' |
    sed -E -e 's/pulp::[^;]*::imp[^; ]*/vector loop/g' \
        -e ':around;s/;[^;]*(rayon|core::|std::|alloc::|_start|start_thread|clone3|__libc|\[unknown\])[^;]*(;| [0-9]+$)/\2/;taround' \
        -e 's/gemm_v0[a-z0-9_]*/matrix product/g' \
        -e 's/<([A-Za-z0-9_:]+)(<[^;]*>)? as [^;]*>::([a-z_]+)/\1::\3/g' \
        -e ':generics;s/(<[^;<>]*>|::\{\{closure\}\})//g;tgenerics' \
        -e 's/\b([a-z_0-9]+::)+//g; s/;::/;/g; s/;main;/;/g' > "$folder/folded.txt"
inferno-flamegraph --title '3000 x 80000, k = 200, SNR 5, single precision, one thread' --countname nanoseconds --minwidth 0.4 \
    --colors rust < "$folder/folded.txt" > docs/flame.svg
echo "written: docs/flame.svg"
