// The SQL of pairings, whose conditions hold in the write itself.

/** People of one channel who may wait for approval at once; further strangers get no answer. */
const MAX_PENDING = 100;
/** People of one channel whom the owner may list by their ids. */
export const MAX_PEOPLE = 1_000;

/** ?1 to ?9: agent, channel, sender, name, peer, code, end of the code, now, language. */
export const INSERT_REQUEST = `INSERT INTO pairings (agent_id, channel, sender_id, sender_name, peer, code, expires_at, created_at, language)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
  WHERE (SELECT count(*) FROM pairings WHERE agent_id = ?1 AND channel = ?2 AND code IS NOT NULL) < ${MAX_PENDING}
  ON CONFLICT DO NOTHING`;

export const APPROVE = `UPDATE pairings SET approved_at = ?1, code = NULL, expires_at = NULL
  WHERE agent_id = ?2 AND channel = ?3 AND code = ?4 AND expires_at > ?1 RETURNING sender_id, sender_name, peer, language`;

/** Never more than the limit of people, unless they are in the table already. A name that is known stays. */
export const APPROVE_PERSON = `INSERT INTO pairings (agent_id, channel, sender_id, sender_name, peer, approved_at, created_at)
  SELECT ?1, ?2, ?3, ?4, '', ?5, ?5
  WHERE (SELECT count(*) FROM pairings WHERE agent_id = ?1 AND channel = ?2) < ${MAX_PEOPLE}
    OR EXISTS (SELECT 1 FROM pairings WHERE agent_id = ?1 AND channel = ?2 AND sender_id = ?3)
  ON CONFLICT DO UPDATE SET approved_at = coalesce(approved_at, ?5), code = NULL, expires_at = NULL,
    sender_name = iif(sender_name = '', ?4, sender_name)
  RETURNING sender_name, peer, language`;

export const DENY_PERSON = `UPDATE pairings SET approved_at = NULL, code = NULL, expires_at = ?1
  WHERE agent_id = ?2 AND channel = ?3 AND sender_id = ?4 RETURNING sender_name`;

export const REMOVE =
  "DELETE FROM pairings WHERE agent_id = ?1 AND channel = ?2 AND sender_id = ?3 RETURNING sender_name";

export const SET_OWNER_TO = "UPDATE channel_connections SET owner_id = ?1 WHERE agent_id = ?2 AND channel = ?3";

export const SET_OWNER = `UPDATE channel_connections SET owner_id = pairings.sender_id FROM pairings
  WHERE channel_connections.agent_id = ?2 AND channel_connections.channel = ?3
    AND pairings.agent_id = ?2 AND pairings.channel = ?3 AND pairings.code = ?4 AND pairings.expires_at > ?1`;

/** Whether a sender gets no code: approved, given one already, denied, or too many wait. ?4: now. */
export const IS_REQUEST_IGNORED = `SELECT EXISTS (SELECT 1 FROM pairings WHERE agent_id = ?1 AND channel = ?2 AND sender_id = ?3
    AND (approved_at IS NOT NULL OR expires_at > ?4))
  OR (SELECT count(*) FROM pairings WHERE agent_id = ?1 AND channel = ?2 AND code IS NOT NULL AND expires_at > ?4) >= ${MAX_PENDING}
  AS ignored`;
