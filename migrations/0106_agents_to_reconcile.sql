-- A start looks for agents that should be up and aren't, or that a runtime of another version began: without reading all agents.
CREATE INDEX agents_to_bring_up ON agents (id) WHERE wanted = 'up' AND status NOT IN ('running', 'active');
CREATE INDEX agents_by_runtime ON agents (runtime_version) WHERE wanted = 'up';
