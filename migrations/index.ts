// Lists every schema change in order, as SQL text that is embedded in the binary.
// A new migration is added at the end. The SQL of an old one never changes; its comments may, since only names are recorded.
// There is no 0029: no migration ever had this number, and the gap has no effect.

import kernel from "./0001_kernel.sql" with { type: "text" };
import auth from "./0002_auth.sql" with { type: "text" };
import agents from "./0003_agents.sql" with { type: "text" };
import ai from "./0004_ai.sql" with { type: "text" };
import skills from "./0005_skills.sql" with { type: "text" };
import runtime from "./0006_runtime.sql" with { type: "text" };
import channels from "./0007_channels.sql" with { type: "text" };
import accounts from "./0008_accounts.sql" with { type: "text" };
import keysAndTwoFactor from "./0009_keys_and_two_factor.sql" with { type: "text" };
import webhooks from "./0010_webhooks.sql" with { type: "text" };
import admin from "./0011_admin.sql" with { type: "text" };
import lifecycle from "./0012_lifecycle.sql" with { type: "text" };
import gatewayAndPublicPages from "./0013_gateway_and_public_pages.sql" with { type: "text" };
import verification from "./0014_verification.sql" with { type: "text" };
import webhooksOfAdmins from "./0015_webhooks_of_admins.sql" with { type: "text" };
import aiMoney from "./0016_ai.sql" with { type: "text" };
import wallets from "./0017_wallets.sql" with { type: "text" };
import social from "./0018_social.sql" with { type: "text" };
import byAgent from "./0019_by_agent.sql" with { type: "text" };
import onceVerified from "./0020_once_verified.sql" with { type: "text" };
import channelsResume from "./0021_channels_resume.sql" with { type: "text" };
import attachments from "./0022_attachments.sql" with { type: "text" };
import streams from "./0023_streams.sql" with { type: "text" };
import walletLanes from "./0024_wallet_lanes.sql" with { type: "text" };
import walletTakeover from "./0025_wallet_takeover.sql" with { type: "text" };
import visitorsWords from "./0026_visitors_words.sql" with { type: "text" };
import channelDetail from "./0027_channel_detail.sql" with { type: "text" };
import claims from "./0028_claims.sql" with { type: "text" };
import sessionsByActivity from "./0030_sessions_by_activity.sql" with { type: "text" };
import anyChannel from "./0031_any_channel.sql" with { type: "text" };
import modelPrices from "./0032_model_prices.sql" with { type: "text" };
import taint from "./0033_taint.sql" with { type: "text" };
import approvals from "./0034_approvals.sql" with { type: "text" };
import uploads from "./0043_uploads.sql" with { type: "text" };
import agentHours from "./0044_agent_hours.sql" with { type: "text" };
import agentsListed from "./0046_agents_listed.sql" with { type: "text" };
import embeddedPages from "./0048_embedded_pages.sql" with { type: "text" };
import schedules from "./0050_schedules.sql" with { type: "text" };
import pinnedMemories from "./0051_pinned_memories.sql" with { type: "text" };
import fleet from "./0054_fleet.sql" with { type: "text" };
import usageOfAll from "./0055_usage_of_all.sql" with { type: "text" };
import signIns from "./0056_sign_ins.sql" with { type: "text" };
import modelProviders from "./0058_model_providers.sql" with { type: "text" };
import usageSums from "./0059_usage_sums.sql" with { type: "text" };
import mcpServers from "./0060_mcp_servers.sql" with { type: "text" };
import skillFolders from "./0065_skill_folders.sql" with { type: "text" };
import knowledge from "./0070_knowledge.sql" with { type: "text" };
import memoryKinds from "./0071_memory_kinds.sql" with { type: "text" };
import vectors from "./0072_vectors.sql" with { type: "text" };
import turnSteps from "./0073_turn_steps.sql" with { type: "text" };
import suspendedTurns from "./0074_suspended_turns.sql" with { type: "text" };
import choices from "./0075_choices.sql" with { type: "text" };
import connectedApps from "./0077_connected_apps.sql" with { type: "text" };
import webSearches from "./0080_web_searches.sql" with { type: "text" };
import agentImports from "./0083_agent_imports.sql" with { type: "text" };
import instanceRecords from "./0084_instance_records.sql" with { type: "text" };
import logLinks from "./0085_log_links.sql" with { type: "text" };
import waited from "./0086_waited.sql" with { type: "text" };
import replyFiles from "./0087_reply_files.sql" with { type: "text" };
import transcripts from "./0090_transcripts.sql" with { type: "text" };
import approvalTaint from "./0093_approval_taint.sql" with { type: "text" };
import repliedMessages from "./0095_replied_messages.sql" with { type: "text" };
import subSteps from "./0098_sub_steps.sql" with { type: "text" };
import inboxLanguage from "./0099_inbox_language.sql" with { type: "text" };
import hiddenCallParts from "./0100_hidden_call_parts.sql" with { type: "text" };
import pairingLanguage from "./0101_pairing_language.sql" with { type: "text" };
import ledgerJournal from "./0102_ledger_journal.sql" with { type: "text" };
import auditLogKept from "./0103_audit_log_kept.sql" with { type: "text" };
import inboxTopics from "./0104_inbox_topics.sql" with { type: "text" };
import usageInSteps from "./0105_usage_in_steps.sql" with { type: "text" };
import agentsToReconcile from "./0106_agents_to_reconcile.sql" with { type: "text" };
import apiResponses from "./0110_api_responses.sql" with { type: "text" };
import deviceSignIns from "./0120_device_sign_ins.sql" with { type: "text" };
import adminGroups from "./0135_admin_groups.sql" with { type: "text" };
import places from "./0140_places.sql" with { type: "text" };
import deviceCells from "./0141_device_cells.sql" with { type: "text" };
import backupRuns from "./0150_backup_runs.sql" with { type: "text" };
import auditChain from "./0155_audit_chain.sql" with { type: "text" };
import creditEntries from "./0160_credit_entries.sql" with { type: "text" };
import stripe from "./0161_stripe.sql" with { type: "text" };
import stripeMeter from "./0162_stripe_meter.sql" with { type: "text" };
import freezes from "./0163_freezes.sql" with { type: "text" };
import limitsLifted from "./0164_limits_lifted.sql" with { type: "text" };
import keptData from "./0166_kept_data.sql" with { type: "text" };
import stablecoinPayments from "./0170_stablecoin_payments.sql" with { type: "text" };
import creditDebts from "./0171_credit_debts.sql" with { type: "text" };
import erasuresOfAnAgent from "./0172_erasures_of_an_agent.sql" with { type: "text" };
import budgetShares from "./0174_budget_shares.sql" with { type: "text" };
import accountMoves from "./0175_account_moves.sql" with { type: "text" };
import monthsByAccount from "./0180_months_by_account.sql" with { type: "text" };
import turnCounts from "./0181_turn_counts.sql" with { type: "text" };
import usageSteps from "./0185_usage_steps.sql" with { type: "text" };
import eventShifts from "./0186_event_shifts.sql" with { type: "text" };

/** A change of the schema, which is applied once and recorded by its name. */
export interface Migration {
  name: string;
  sql: string;
}

export const migrations: readonly Migration[] = [
  { name: "0001_kernel", sql: kernel },
  { name: "0002_auth", sql: auth },
  { name: "0003_agents", sql: agents },
  { name: "0004_ai", sql: ai },
  { name: "0005_skills", sql: skills },
  { name: "0006_runtime", sql: runtime },
  { name: "0007_channels", sql: channels },
  { name: "0008_accounts", sql: accounts },
  { name: "0009_keys_and_two_factor", sql: keysAndTwoFactor },
  { name: "0010_webhooks", sql: webhooks },
  { name: "0011_admin", sql: admin },
  { name: "0012_lifecycle", sql: lifecycle },
  { name: "0013_gateway_and_public_pages", sql: gatewayAndPublicPages },
  { name: "0014_verification", sql: verification },
  { name: "0015_webhooks_of_admins", sql: webhooksOfAdmins },
  { name: "0016_ai", sql: aiMoney },
  { name: "0017_wallets", sql: wallets },
  { name: "0018_social", sql: social },
  { name: "0019_by_agent", sql: byAgent },
  { name: "0020_once_verified", sql: onceVerified },
  { name: "0021_channels_resume", sql: channelsResume },
  { name: "0022_attachments", sql: attachments },
  { name: "0023_streams", sql: streams },
  { name: "0024_wallet_lanes", sql: walletLanes },
  { name: "0025_wallet_takeover", sql: walletTakeover },
  { name: "0026_visitors_words", sql: visitorsWords },
  { name: "0027_channel_detail", sql: channelDetail },
  { name: "0028_claims", sql: claims },
  { name: "0030_sessions_by_activity", sql: sessionsByActivity },
  { name: "0031_any_channel", sql: anyChannel },
  { name: "0032_model_prices", sql: modelPrices },
  { name: "0033_taint", sql: taint },
  { name: "0034_approvals", sql: approvals },
  { name: "0043_uploads", sql: uploads },
  { name: "0044_agent_hours", sql: agentHours },
  { name: "0046_agents_listed", sql: agentsListed },
  { name: "0048_embedded_pages", sql: embeddedPages },
  { name: "0050_schedules", sql: schedules },
  { name: "0051_pinned_memories", sql: pinnedMemories },
  { name: "0054_fleet", sql: fleet },
  { name: "0055_usage_of_all", sql: usageOfAll },
  { name: "0056_sign_ins", sql: signIns },
  { name: "0058_model_providers", sql: modelProviders },
  { name: "0059_usage_sums", sql: usageSums },
  { name: "0060_mcp_servers", sql: mcpServers },
  { name: "0065_skill_folders", sql: skillFolders },
  { name: "0070_knowledge", sql: knowledge },
  { name: "0071_memory_kinds", sql: memoryKinds },
  { name: "0072_vectors", sql: vectors },
  { name: "0073_turn_steps", sql: turnSteps },
  { name: "0074_suspended_turns", sql: suspendedTurns },
  { name: "0075_choices", sql: choices },
  { name: "0077_connected_apps", sql: connectedApps },
  { name: "0080_web_searches", sql: webSearches },
  { name: "0083_agent_imports", sql: agentImports },
  { name: "0084_instance_records", sql: instanceRecords },
  { name: "0085_log_links", sql: logLinks },
  { name: "0086_waited", sql: waited },
  { name: "0087_reply_files", sql: replyFiles },
  { name: "0090_transcripts", sql: transcripts },
  { name: "0093_approval_taint", sql: approvalTaint },
  { name: "0095_replied_messages", sql: repliedMessages },
  { name: "0098_sub_steps", sql: subSteps },
  { name: "0099_inbox_language", sql: inboxLanguage },
  { name: "0100_hidden_call_parts", sql: hiddenCallParts },
  { name: "0101_pairing_language", sql: pairingLanguage },
  { name: "0102_ledger_journal", sql: ledgerJournal },
  { name: "0103_audit_log_kept", sql: auditLogKept },
  { name: "0104_inbox_topics", sql: inboxTopics },
  { name: "0105_usage_in_steps", sql: usageInSteps },
  { name: "0106_agents_to_reconcile", sql: agentsToReconcile },
  { name: "0110_api_responses", sql: apiResponses },
  { name: "0120_device_sign_ins", sql: deviceSignIns },
  { name: "0135_admin_groups", sql: adminGroups },
  { name: "0140_places", sql: places },
  { name: "0141_device_cells", sql: deviceCells },
  { name: "0150_backup_runs", sql: backupRuns },
  { name: "0155_audit_chain", sql: auditChain },
  { name: "0160_credit_entries", sql: creditEntries },
  { name: "0161_stripe", sql: stripe },
  { name: "0162_stripe_meter", sql: stripeMeter },
  { name: "0163_freezes", sql: freezes },
  { name: "0164_limits_lifted", sql: limitsLifted },
  { name: "0166_kept_data", sql: keptData },
  { name: "0170_stablecoin_payments", sql: stablecoinPayments },
  { name: "0171_credit_debts", sql: creditDebts },
  { name: "0172_erasures_of_an_agent", sql: erasuresOfAnAgent },
  { name: "0174_budget_shares", sql: budgetShares },
  { name: "0175_account_moves", sql: accountMoves },
  { name: "0180_months_by_account", sql: monthsByAccount },
  { name: "0181_turn_counts", sql: turnCounts },
  { name: "0185_usage_steps", sql: usageSteps },
  { name: "0186_event_shifts", sql: eventShifts },
];
