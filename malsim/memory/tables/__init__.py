"""The tables that a store consists of: one SQLite file, or the same in working memory."""
