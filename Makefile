# Each target is what you would type. `make help` lists them.

.PHONY: help run test test-long bench

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

run: ## a demonstration: features found, a picture completed
	cargo run --release --example demo

test: ## format, lints, all tests, documentation
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo test --workspace
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

test-long: test target/draw ## the same, then the long tests as well
	KATOMS_DRAW=$(CURDIR)/target/draw cargo test --workspace --release -- --include-ignored

target/draw: bench/numpy_draw.py # the draw on which the variants were first tried
	python3 -m venv .venv && .venv/bin/pip install --quiet numpy
	.venv/bin/python bench/numpy_draw.py target/draw

bench: ## the figures of the README
	cargo run --release -p katoms-bench --bin adjoint
	cargo run --release -p katoms-bench --bin heart
