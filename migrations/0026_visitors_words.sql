-- Messages of visitors, deleted with their conversation.
CREATE INDEX inbox_visitors ON inbox (received_at) WHERE platform = 'public' AND content <> '';
