"""The workbench: what the lab finds, with its figures at hand, as `import malsim as ms` gives it."""
