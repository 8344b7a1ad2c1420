"""What people ask a proof: ready-made questions, the least setting that is proved, what one claim does to another."""
