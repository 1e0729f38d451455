-- The messages of one topic are listed without reading all that the agent ever received. Only messages to POST /api/chat have one.
CREATE INDEX inbox_topics ON inbox (agent_id, topic, id) WHERE topic IS NOT NULL;
