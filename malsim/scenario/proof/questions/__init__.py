"""Ready-made questions to a proof, the least setting that is proved, and the influence of one claim on another."""
