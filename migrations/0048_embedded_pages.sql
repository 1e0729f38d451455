-- The origins of other sites that may show an agent's public page in a frame: a JSON list.
ALTER TABLE public_pages ADD COLUMN embed_origins TEXT NOT NULL DEFAULT '[]';
