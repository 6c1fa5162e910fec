"""Nothing here is for pytest: `scripts/e2e` runs it in the servers' environments."""

collect_ignore_glob = ["*.py", "stand_ins"]
