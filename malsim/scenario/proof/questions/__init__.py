"""Ready-made questions to a proof."""
