"""The netlist language: words, addresses and statements, read and written without ops or a memory."""
