#!/usr/bin/env bash
# The long runs of what CI does briefly: 200 random kill points, and many edits against one fresh ingest (about an hour).
#
#     tests/benchmarks/long_runs.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

HOPRANK_TEST_KILLS=200 uv run pytest -q tests/ingest/test_kills.py
HOPRANK_TEST_EXAMPLES=200 HOPRANK_TEST_STEPS=25 uv run pytest -q tests/ingest/test_one_truth.py
