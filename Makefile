# Every target can be run first, in a fresh clone with Python 3.11 and nothing else: it makes the
# virtual environment and installs what it needs at the versions of constraints.txt.
#
#   make PYTHON=python3.13 VENV=.venv313 test     another interpreter, another environment

PYTHON ?= python3.11
VENV ?= .venv
BENCH_ARGS ?=
PYTEST_ARGS ?= -n 2 --dist worksteal
MUTATE_ARGS ?=

BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
CORE_TOOLS := "pytest>=8.3" "hypothesis>=6.120"
CORE_TESTS := tests/test_core.py tests/model \
	tests/envs/test_vector_env.py tests/exact/test_chain.py \
	tests/exact/test_matrix_game.py tests/exact/test_brackets.py \
	tests/exact/test_scoring.py tests/exact/test_solve.py tests/games/fighting_fantasy/test_rules.py \
	tests/games/greed/test_rules.py tests/games/test_small_game_rules.py
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --quiet \
	--constraint constraints.txt

define NEXT
@echo
@echo "The command solvent is in $(VENV). To use it, and what to try next:"
@echo "    . $(BIN)/activate"
@echo "    solvent solve FrozenLake-v1      an optimum with its proof"
@echo "    solvent play ff-combat           play, and see what each choice has cost"
@echo "    solvent explore                  a board for every game, in the browser"
@echo "    solvent list                     all games and environments"
endef

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.SUFFIXES:
.PHONY: help install bench test check lint slow js-types explore-test mutate core-pinned core-lowest format docs \
	images notebooks peers tools learning clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /\1|/' | \
		while IFS='|' read -r name what; do printf '  make %-12s %s\n' "$$name" "$$what"; done

install: $(STAMPS)/bench ## only set up the command and what training needs
	$(NEXT)

bench: $(STAMPS)/bench ## solve, train, score and report: the suite's main job, into bench-results/
	$(BIN)/solvent bench --out bench-results $(BENCH_ARGS)
	$(NEXT)

test: lint ## format, lint and types as in `lint`, then the tests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: test ## the one command before a commit

lint: $(STAMPS)/test ## check the format, the lint rules and the types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

slow: $(STAMPS)/test ## the tests that train agents or sweep large grids, and those of properties with more examples
	$(BIN)/python -m pytest -m "slow or hypothesis" $(PYTEST_ARGS)

js-types: ## check the types of the explorer's JavaScript, by TypeScript (needs Node.js)
	npx --yes --package typescript@5.9.3 -- tsc --noEmit --allowJs --checkJs --strict \
		--target es2023 --lib es2023,dom,dom.iterable \
		$(addprefix solvent/explore/,explore.js $(addsuffix .js,live_grid_model live_grid_exact \
		live_grid_learn live_grid))

explore-test: $(STAMPS)/test ## the explorer in Chromium, without which it fails (Debian: chromium, chromium-driver)
	$(BIN)/python -m pytest -m browser tests/explore

mutate: $(STAMPS)/test ## plant errors in the rules and solvers and list what no test finds (hours)
	$(BIN)/python tests/mutation/mutate.py $(MUTATE_ARGS)

core-pinned: ## the tests that need no extra, on an installed wheel
	@$(PYTHON) -m venv --clear $(VENV)-core
	@$(VENV)-core/bin/python -m pip install --disable-pip-version-check --quiet \
		--constraint constraints.txt --upgrade pip
	@$(VENV)-core/bin/python -m pip install --disable-pip-version-check --quiet \
		--constraint constraints.txt --build-constraint constraints.txt . $(CORE_TOOLS)
	$(VENV)-core/bin/pytest $(CORE_TESTS)

core-lowest: ## the same with the lowest versions that pyproject.toml declares
	@$(PYTHON) -m venv --clear $(VENV)-lowest
	@$(VENV)-lowest/bin/python -m pip install --disable-pip-version-check --quiet \
		--constraint constraints.txt uv
	@$(VENV)-lowest/bin/uv pip install --quiet --python $(VENV)-lowest/bin/python \
		--resolution lowest-direct . $(CORE_TOOLS)
	$(VENV)-lowest/bin/pytest $(CORE_TESTS)

format: $(STAMPS)/test ## format the code and apply the safe fixes
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

docs: $(STAMPS)/docs ## build the documentation into site/
	$(BIN)/python docs/scripts/maps.py
	PYTHONPATH=docs/scripts $(BIN)/zensical build --clean --strict
	$(BIN)/python docs/scripts/links.py site

images: $(STAMPS)/docs ## play the pictures of the documentation anew
	$(BIN)/python docs/scripts/images.py

notebooks: $(STAMPS)/notebooks ## execute the notebooks of examples/ in Jupyter
	$(BIN)/python -m pytest --nbmake --nbmake-timeout=1800 --override-ini=filterwarnings= examples/*.ipynb

peers: $(STAMPS)/peers ## measure against outside programs with the scripts in benchmarks/
	@set -e; for name in solver cycles matrix_games vector_env seat_vector_env \
		football_points gamebook_solver expectimax timed_football simulated_vector_env \
		cold_start explore_start; do \
		echo "== benchmarks/$$name.py"; $(BIN)/python "benchmarks/$$name.py"; \
	done

# Tools whose pins exclude each other have an environment each. What one pins otherwise than
# constraints.txt takes the place of the line there.
TOOLS := tools tools-rllib tools-agilerl

tools: $(TOOLS:%=$(VENV)-%/.installed) ## train with other programs on the environments, see docs/tools.md
	@set -e; for group in $(TOOLS); do \
		echo "== $$group"; $(VENV)-$$group/bin/python -m pytest tests/tools/test_$$(echo $$group | tr - _).py; \
	done

$(TOOLS:%=$(VENV)-%/.installed): $(VENV)-%/.installed: tests/tools/constraints-%.txt \
		constraints.txt pyproject.toml
	@echo "Installing .[$*] into $(@D); this takes some minutes."
	@$(PYTHON) -m venv --clear $(@D)
	@sed -n 's/^\([a-z0-9-]*==\).*/^\1/p' $< > $(@D)/names
	@grep --invert-match --file $(@D)/names constraints.txt | cat - $< > $(@D)/constraints.txt
	@$(@D)/bin/python -m pip install --disable-pip-version-check --quiet \
		--constraint $(@D)/constraints.txt --upgrade pip
	@$(@D)/bin/python -m pip install --disable-pip-version-check --quiet \
		--constraint $(@D)/constraints.txt --build-constraint $(@D)/constraints.txt \
		--editable '.[$*]'
	@touch $@

learning: $(STAMPS)/bench ## train with several seeds and print the exact gaps (takes long)
	$(BIN)/python benchmarks/learning.py
	$(BIN)/python benchmarks/self_play.py
	$(BIN)/python benchmarks/football_learning.py
	$(BIN)/python benchmarks/timed_football_learning.py
	$(BIN)/python benchmarks/difficulty_sweep.py

clean: ## remove what the other targets made
	rm -rf $(VENV) $(VENV)-core $(VENV)-lowest $(TOOLS:%=$(VENV)-%) bench-results site docs/maps .cache build dist
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -type d -name __pycache__ -prune -exec rm -rf {} +

comma := ,

# A stamp says that a set-up ran to its end; an interrupted one leaves none and runs again.

$(STAMPS)/bench: EXTRAS := train,web
$(STAMPS)/test: EXTRAS := all,dev
$(STAMPS)/docs: EXTRAS := cli,docs,render,report,web
$(STAMPS)/notebooks: EXTRAS := notebooks
$(STAMPS)/peers: EXTRAS := all,bench

$(STAMPS)/bench $(STAMPS)/test $(STAMPS)/docs $(STAMPS)/notebooks $(STAMPS)/peers: $(STAMPS)/venv pyproject.toml
	@echo "Installing .[$(EXTRAS)] into $(VENV); the first time takes some minutes."
	$(if $(filter train all notebooks,$(subst $(comma), ,$(EXTRAS))),@echo "PyTorch for NVIDIA cards is gigabytes; docs/quickstart.md says how to do without them.")
	@$(INSTALL) --build-constraint constraints.txt --editable '.[$(EXTRAS)]'
	@touch $@

$(STAMPS)/venv: constraints.txt
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) --upgrade pip
	@mkdir -p $(STAMPS)
	@touch $@
