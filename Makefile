# Each target does its own set-up: git, Python >= 3.11 and make are all it needs.

PYTHON  ?= python3
BACKEND ?= reference
PROFILE ?= core
VENV    := .venv
BIN     := $(VENV)/bin
OUT     := out
empty   :=
extra-tensorflow := [tensorflow]
EXTRA   := $(extra-$(BACKEND))

.PHONY: certify test test-slow test-tensorflow test-all check docs drift wheel drift-cupy soak engines engine-tests published clean

certify: $(VENV)/certify-$(BACKEND).stamp
	$(BIN)/sessrun certify $(BACKEND) --profile $(PROFILE) $(if $(SEED),--seed $(SEED)) --output $(OUT)/certify-$(BACKEND)-$(PROFILE)

# What failed beside other tests runs again alone: on a busy machine deadlines are missed.
AGAIN   := --last-failed --last-failed-no-failures none
TESTS   := -q -n auto --dist worksteal

# Without the tests that need an engine, and without slow ones: lines at its end count them.
test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest $(TESTS) --without-engines --without-slow || \
	  $(BIN)/python -m pytest -q --without-engines --without-slow $(AGAIN)

# Programs in full: the commands of the pages, plans of a profile, mutants. None needs an engine.
test-slow: $(VENV)/dev.stamp
	$(BIN)/python -m pytest $(TESTS) -m slow --without-engines || \
	  $(BIN)/python -m pytest -q -m slow --without-engines $(AGAIN)

test-tensorflow: $(VENV)/dev.stamp $(VENV)/certify-tensorflow.stamp
	$(BIN)/python -m pytest $(TESTS) -m tensorflow || $(BIN)/python -m pytest -q -m tensorflow $(AGAIN)

# All that can run here: those of an engine that is not installed are skipped.
test-all: $(VENV)/dev.stamp $(VENV)/certify-tensorflow.stamp
	$(BIN)/python -m pytest $(TESTS) || $(BIN)/python -m pytest -q $(AGAIN)

# Lint, types and generated files.
check: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet adapters conformance reference reports spec src tests
	$(BIN)/mypy
	$(MAKE) drift

# The spec, the operations and the documentation as a site that needs no network.
docs: $(VENV)/dev.stamp
	$(BIN)/sessrun spec --site $(OUT)/docs --prose .

# What is generated and in git is compared; the site, which is not in git, is built: no page of it leads nowhere.
drift: $(VENV)/dev.stamp docs
	$(BIN)/python -m sessrun.spec.tables.generate --check
	$(BIN)/python -m sessrun.reference.public_index --check
	$(BIN)/python -m sessrun.spec.checked --check
	$(BIN)/python -m sessrun.spec.proto.regenerate --check

# What the stand-in for cupy takes for cupy's names, loops and signatures: cupy is imported, no GPU is asked for.
drift-cupy: $(VENV)/dev.stamp
	$(BIN)/python -m pip install --quiet --upgrade --target $(OUT)/cupy --no-deps 'cupy-cuda13x==14.2.*' cuda-pathfinder
	PYTHONPATH=$(OUT)/cupy $(BIN)/python -m sessrun.adapters.fakes.simulated_gpu.generate --check

# The wheel as a stranger has it: installed away from the checkout, with the packages that it needs and nothing of ours,
# it certifies the reference in the smallest scope, and verifies what it wrote.
WHEEL       := $(OUT)/wheel
WHEEL_BYTES := 5200000
wheel: $(VENV)/dev.stamp
	rm -rf $(WHEEL) build
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(WHEEL) .
	rm -rf build
	wc -c $(WHEEL)/*.whl && test $$(cat $(WHEEL)/*.whl | wc -c) -lt $(WHEEL_BYTES)
	folder=$$(mktemp -d) && trap 'rm -rf '$$folder EXIT && $(PYTHON) -m venv $$folder/venv && \
	  $$folder/venv/bin/python -m pip install --quiet --no-deps $(WHEEL)/*.whl && \
	  $(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	    >$$($$folder/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/needed.pth && \
	  cd $$folder && venv/bin/sessrun certify reference --profile tracing-engine --output certified && \
	  venv/bin/sessrun verify certified/package.zip --rerun 5

# The same code as CI's slices, larger counts.
soak: $(VENV)/certify-tensorflow.stamp $(VENV)/dev.stamp
	$(BIN)/sessrun run tensorflow --profile $(PROFILE) --seed $${SEED:-1} --generated $${COUNT:-2000} \
	  --record $(OUT)/soak-tensorflow-$${SEED:-1}.jsonl --resume
	for profile in core structures state training library concurrency tracing; do \
	  $(BIN)/sessrun run tensorflow --profile $$profile --only variant/ --generated 1 \
	    --seed $${SEED:-1} --record $(OUT)/soak-variants-$$profile/record.jsonl || exit 1; \
	done
	$(BIN)/sessrun selfcheck --own
	SESSRUN_ELEMENTS=1000000 SESSRUN_HISTORIES=100 \
	  $(BIN)/python -m pytest -q tests/conformance/test_queue_histories.py
	SESSRUN_MUTATIONS=1000 $(BIN)/python -m pytest -q tests/reports/test_reports_fuzz.py

$(VENV)/bin/python:
	@echo "setting up $(VENV): the first time this takes a while"
	$(PYTHON) -m venv $(VENV)

$(VENV)/certify-$(BACKEND).stamp: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.$(EXTRA)'
	touch $@

ifneq ($(BACKEND),tensorflow)
$(VENV)/certify-tensorflow.stamp: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[tensorflow]'
	touch $@
endif

$(VENV)/dev.stamp: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) $(OUT)

include engines.mk
include gpu.mk
