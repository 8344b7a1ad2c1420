"""Ready-made questions to a proof, and the least setting that is proved."""
