"""Beyond global sensitivity: smooth sensitivity, propose-test-release, inverse sensitivity."""
