"""The explorer: a page that searches, draws paths, and shows corpora and jobs by the service's own routes."""
