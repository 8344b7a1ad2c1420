"""SQLite tables of a store, either in a file or in working memory."""
