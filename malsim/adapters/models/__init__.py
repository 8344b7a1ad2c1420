"""What stands in place of models that other people's packages ask: a judge's answers, an embedding of words."""
