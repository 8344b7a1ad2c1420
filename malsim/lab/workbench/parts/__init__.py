"""Parts of the page below its figures: checks, steps, wires, saving, why, gallery, op bench and store."""
