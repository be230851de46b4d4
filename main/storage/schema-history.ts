/** The schema's history: numbered, forward only. A change of the schema is one more entry, never an edit of one. */
interface Migration {
  readonly version: number;
  readonly sql: string;
}

/** Tables of the first versions whose rows are authenticated (`integrity/row-mac.ts`); a later table has its `mac` from the start. */
const authenticatedLater = [
  'vault',
  'keyslots',
  'server_keys',
  'organizations',
  'users',
  'user_tags',
  'user_snapshots',
  'api_keys',
  'private_keys',
  'private_key_addresses',
  'private_key_tags',
  'wallets',
  'wallet_accounts',
  'tags',
  'import_targets',
  'authenticators',
  'oauth_providers',
  'one_time_codes',
  'policies',
  'organization_features',
] as const;

/** A user's snapshot holds for as long as nothing of what it shows has changed. */
const forgetSnapshot = (table: string): string => `
      CREATE TRIGGER ${table}_insert_snapshot AFTER INSERT ON ${table}
        BEGIN UPDATE users SET snapshot = NULL WHERE id = NEW.user_id; END;
      CREATE TRIGGER ${table}_update_snapshot AFTER UPDATE ON ${table}
        BEGIN UPDATE users SET snapshot = NULL WHERE id = NEW.user_id; END;
      CREATE TRIGGER ${table}_delete_snapshot AFTER DELETE ON ${table}
        BEGIN UPDATE users SET snapshot = NULL WHERE id = OLD.user_id; END;
`;

/** An organization's mark is another whenever one of its policies is: what was made of them is known by it. */
const markPolicies = (event: string): string => `
      CREATE TRIGGER policies_${event.toLowerCase()}_mark AFTER ${event} ON policies
        BEGIN UPDATE organizations SET policies_mark = lower(hex(randomblob(16)))
          WHERE id = ${event === 'DELETE' ? 'OLD' : 'NEW'}.organization_id; END;
`;

/** When a credential was used goes with it. */
const forgetUses = (table: string): string => `
      CREATE TRIGGER ${table}_delete_uses AFTER DELETE ON ${table}
        BEGIN DELETE FROM credential_uses WHERE credential_id = OLD.id; END;
`;

const forgetKeyUses = (table: string): string => `
      CREATE TRIGGER ${table}_delete_uses AFTER DELETE ON ${table}
        BEGIN DELETE FROM key_uses WHERE key_id = OLD.id; END;
`;

export const migrations: readonly Migration[] = [
  {
    version: 1,
    sql: `
      CREATE TABLE vault (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        id TEXT NOT NULL,
        organization_id TEXT NOT NULL,
        owner_user_id TEXT NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT;

      CREATE TABLE keyslots (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        parameters TEXT NOT NULL,
        wrapped BLOB NOT NULL,
        created_at INTEGER NOT NULL,
        confirmed_at INTEGER
      ) STRICT;

      CREATE TABLE server_keys (
        name TEXT PRIMARY KEY,
        public_key TEXT NOT NULL,
        sealed BLOB NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT;

      CREATE TABLE organizations (
        id TEXT PRIMARY KEY,
        parent_id TEXT REFERENCES organizations (id),
        name TEXT NOT NULL,
        root_quorum_threshold INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      ) STRICT;

      CREATE TABLE users (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        name TEXT NOT NULL,
        email TEXT,
        phone_number TEXT,
        root INTEGER NOT NULL CHECK (root IN (0, 1)),
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX users_name ON users (organization_id, name);

      CREATE TABLE user_tags (
        user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        tag_id TEXT NOT NULL,
        PRIMARY KEY (user_id, tag_id)
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE api_keys (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        credential_type TEXT NOT NULL,
        public_key TEXT NOT NULL,
        expiration_seconds INTEGER,
        expires_at INTEGER,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX api_keys_public_key ON api_keys (organization_id, public_key);
      CREATE INDEX api_keys_user ON api_keys (user_id);

      CREATE TABLE private_keys (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        name TEXT NOT NULL,
        curve TEXT NOT NULL,
        public_key TEXT NOT NULL,
        sealed BLOB NOT NULL,
        exported INTEGER NOT NULL CHECK (exported IN (0, 1)),
        imported INTEGER NOT NULL CHECK (imported IN (0, 1)),
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX private_keys_name ON private_keys (organization_id, name);

      CREATE TABLE private_key_addresses (
        private_key_id TEXT NOT NULL REFERENCES private_keys (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        organization_id TEXT NOT NULL,
        format TEXT NOT NULL,
        address TEXT NOT NULL,
        PRIMARY KEY (private_key_id, position)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX private_key_addresses_address ON private_key_addresses (organization_id, address);

      CREATE TABLE private_key_tags (
        private_key_id TEXT NOT NULL REFERENCES private_keys (id) ON DELETE CASCADE,
        tag_id TEXT NOT NULL,
        PRIMARY KEY (private_key_id, tag_id)
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE wallets (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        name TEXT NOT NULL,
        sealed BLOB NOT NULL,
        exported INTEGER NOT NULL CHECK (exported IN (0, 1)),
        imported INTEGER NOT NULL CHECK (imported IN (0, 1)),
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX wallets_name ON wallets (organization_id, name);

      CREATE TABLE wallet_accounts (
        sequence INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        wallet_id TEXT NOT NULL REFERENCES wallets (id) ON DELETE CASCADE,
        name TEXT,
        curve TEXT NOT NULL,
        path TEXT NOT NULL,
        address_format TEXT NOT NULL,
        address TEXT NOT NULL,
        public_key TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX wallet_accounts_path ON wallet_accounts (wallet_id, path, curve, address_format);
      CREATE INDEX wallet_accounts_organization ON wallet_accounts (organization_id);
      CREATE INDEX wallet_accounts_wallet ON wallet_accounts (wallet_id);
      CREATE INDEX wallet_accounts_address ON wallet_accounts (organization_id, address);

      CREATE TABLE user_snapshots (
        hash TEXT PRIMARY KEY,
        user TEXT NOT NULL
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE activities (
        sequence INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        revision INTEGER NOT NULL,
        organization_id TEXT NOT NULL,
        type TEXT NOT NULL,
        status TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        timestamp_ms INTEGER NOT NULL,
        intent TEXT NOT NULL,
        result TEXT,
        failure TEXT,
        votes TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        previous_hash BLOB NOT NULL,
        hash BLOB NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX activities_id ON activities (id, revision);
      CREATE UNIQUE INDEX activities_fingerprint ON activities (organization_id, fingerprint, revision);
      CREATE INDEX activities_organization ON activities (organization_id);
      CREATE TRIGGER activities_no_update BEFORE UPDATE ON activities
        BEGIN SELECT RAISE(ABORT, 'the activity log is append-only'); END;
      CREATE TRIGGER activities_no_delete BEFORE DELETE ON activities
        BEGIN SELECT RAISE(ABORT, 'the activity log is append-only'); END;
    `,
  },
  {
    version: 2,
    sql: `
      CREATE TABLE tags (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        type TEXT NOT NULL,
        name TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX tags_name ON tags (organization_id, type, name);
      CREATE INDEX user_tags_tag ON user_tags (tag_id);
      CREATE INDEX private_key_tags_tag ON private_key_tags (tag_id);

      CREATE TABLE import_targets (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        sealed BLOB NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX import_targets_user ON import_targets (user_id, kind);

      ALTER TABLE wallet_accounts ADD COLUMN exported INTEGER NOT NULL DEFAULT 0 CHECK (exported IN (0, 1));
    `,
  },
  {
    version: 3,
    sql: `
      CREATE TABLE authenticators (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        credential_id TEXT NOT NULL,
        public_key TEXT NOT NULL,
        attestation_type TEXT NOT NULL,
        aaguid TEXT NOT NULL,
        model TEXT NOT NULL,
        transports TEXT NOT NULL,
        sign_count INTEGER NOT NULL,
        last_assertion BLOB,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX authenticators_credential ON authenticators (organization_id, credential_id);
      CREATE INDEX authenticators_user ON authenticators (user_id);

      CREATE TABLE oauth_providers (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        issuer TEXT NOT NULL,
        audience TEXT NOT NULL,
        subject TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX oauth_providers_identity ON oauth_providers (organization_id, issuer, audience, subject);
      CREATE INDEX oauth_providers_user ON oauth_providers (user_id);

      CREATE TABLE one_time_codes (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        contact TEXT NOT NULL,
        sealed BLOB NOT NULL,
        wrong_tries INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX one_time_codes_user ON one_time_codes (user_id);

      CREATE TABLE policies (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        name TEXT NOT NULL,
        effect TEXT NOT NULL CHECK (effect IN ('EFFECT_ALLOW', 'EFFECT_DENY')),
        condition TEXT NOT NULL,
        consensus TEXT NOT NULL,
        time TEXT,
        notes TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX policies_name ON policies (organization_id, name);

      CREATE TABLE organization_features (
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        PRIMARY KEY (organization_id, name)
      ) STRICT;

      ALTER TABLE users ADD COLUMN snapshot TEXT REFERENCES user_snapshots (hash);
      CREATE TRIGGER users_snapshot AFTER UPDATE OF name, email, phone_number, root, updated_at ON users
        BEGIN UPDATE users SET snapshot = NULL WHERE id = NEW.id; END;
      ${['api_keys', 'authenticators', 'oauth_providers', 'user_tags'].map(forgetSnapshot).join('')}
    `,
  },
  {
    version: 4,
    sql: `
      ${authenticatedLater.map((table) => `ALTER TABLE ${table} ADD COLUMN mac BLOB;`).join('\n      ')}

      CREATE TABLE integrity (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        sealed BLOB NOT NULL,
        sums BLOB NOT NULL,
        log TEXT NOT NULL
      ) STRICT;

      CREATE TABLE log_heads (
        sequence INTEGER PRIMARY KEY,
        hash BLOB NOT NULL,
        public_key TEXT NOT NULL,
        signature TEXT NOT NULL,
        signed_at INTEGER NOT NULL
      ) STRICT;
      CREATE TRIGGER log_heads_no_update BEFORE UPDATE ON log_heads
        BEGIN SELECT RAISE(ABORT, 'signed heads of the activity log are append-only'); END;
      CREATE TRIGGER log_heads_no_delete BEFORE DELETE ON log_heads
        BEGIN SELECT RAISE(ABORT, 'signed heads of the activity log are append-only'); END;

      CREATE TABLE backups (
        id TEXT PRIMARY KEY,
        file TEXT NOT NULL,
        made_at INTEGER NOT NULL,
        log_rows INTEGER NOT NULL,
        log_head TEXT NOT NULL,
        size INTEGER NOT NULL,
        proven_at INTEGER,
        problem TEXT
      ) STRICT;

      CREATE TABLE backup_schedule (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        directory TEXT NOT NULL,
        hours INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        last_failure TEXT,
        last_failure_at INTEGER,
        mac BLOB
      ) STRICT;

      CREATE TABLE keychain_leftovers (
        account TEXT PRIMARY KEY,
        noted_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;

      CREATE INDEX wallet_accounts_public_key ON wallet_accounts (organization_id, public_key);
    `,
  },
  {
    version: 5,
    sql: `
      -- Codes live minutes: those that wait while the vault is updated are asked for anew.
      DROP TABLE one_time_codes;
      CREATE TABLE sent_codes (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        purpose TEXT NOT NULL CHECK (purpose IN ('sign in', 'verification')),
        user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
        channel TEXT NOT NULL CHECK (channel IN ('email', 'sms')),
        contact TEXT NOT NULL,
        sealed BLOB NOT NULL,
        wrong_tries INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;
      CREATE INDEX sent_codes_contact ON sent_codes (organization_id, contact);
      CREATE INDEX sent_codes_user ON sent_codes (user_id);

      CREATE TABLE contact_requests (
        sequence INTEGER PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        contact TEXT NOT NULL,
        identifier TEXT,
        requested_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;
      CREATE INDEX contact_requests_organization ON contact_requests (organization_id, requested_at);

      CREATE TABLE spent_tokens (
        id TEXT NOT NULL,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        expires_at INTEGER NOT NULL,
        mac BLOB,
        PRIMARY KEY (id, organization_id)
      ) STRICT;

      CREATE TABLE read_only_sessions (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        expires_at INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;
      CREATE INDEX read_only_sessions_user ON read_only_sessions (user_id);

      ALTER TABLE users ADD COLUMN email_verified_at INTEGER;
      ALTER TABLE users ADD COLUMN phone_number_verified_at INTEGER;
      CREATE INDEX organizations_parent ON organizations (parent_id);
      CREATE INDEX api_keys_anywhere ON api_keys (public_key);
      CREATE INDEX authenticators_anywhere ON authenticators (credential_id);

      CREATE TABLE outbox (
        sequence INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        organization_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        lane TEXT NOT NULL,
        reference TEXT NOT NULL,
        expires_at INTEGER,
        created_at INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'refused', 'parked', 'expired')),
        attempts INTEGER NOT NULL,
        next_at INTEGER NOT NULL,
        failing_since INTEGER,
        finished_at INTEGER,
        note TEXT,
        mac BLOB
      ) STRICT;
      CREATE INDEX outbox_lane ON outbox (lane, sequence);
      CREATE INDEX outbox_waiting ON outbox (lane, sequence) WHERE state = 'waiting';
      CREATE INDEX outbox_finished ON outbox (sequence) WHERE finished_at IS NOT NULL;

      CREATE TABLE webhook_endpoints (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
        feature INTEGER NOT NULL CHECK (feature IN (0, 1)),
        url TEXT NOT NULL,
        name TEXT NOT NULL,
        active INTEGER NOT NULL CHECK (active IN (0, 1)),
        subscriptions TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;
      CREATE INDEX webhook_endpoints_organization ON webhook_endpoints (organization_id);

      CREATE TABLE message_channels (
        name TEXT PRIMARY KEY,
        settings TEXT NOT NULL,
        sealed BLOB NOT NULL,
        updated_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;

      CREATE TABLE outbox_payloads (
        id TEXT PRIMARY KEY REFERENCES outbox (id) ON DELETE CASCADE,
        organization_id TEXT NOT NULL,
        sealed BLOB NOT NULL,
        mac BLOB
      ) STRICT;

      CREATE INDEX activities_waiting ON activities (organization_id, sequence)
        WHERE status = 'ACTIVITY_STATUS_CONSENSUS_NEEDED';
      ALTER TABLE organizations ADD COLUMN policies_mark TEXT;
      ${['INSERT', 'UPDATE', 'DELETE'].map(markPolicies).join('')}
      CREATE TABLE policy_lists (
        id TEXT PRIMARY KEY,
        policy_ids TEXT NOT NULL,
        mac BLOB
      ) STRICT;

      CREATE TABLE policy_evaluations (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        activity_id TEXT NOT NULL,
        vote_id TEXT NOT NULL,
        policy_list TEXT NOT NULL REFERENCES policy_lists (id),
        outcomes TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;
      CREATE INDEX policy_evaluations_activity ON policy_evaluations (activity_id);

      CREATE TABLE policy_reservations (
        sequence INTEGER PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        activity_id TEXT NOT NULL,
        measure TEXT NOT NULL,
        kept_by TEXT NOT NULL,
        amount TEXT NOT NULL,
        total TEXT NOT NULL,
        reserved_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;
      CREATE INDEX policy_reservations_counter
        ON policy_reservations (organization_id, measure, kept_by, reserved_at, sequence);

      CREATE TABLE refusals (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        user_id TEXT NOT NULL,
        snapshot TEXT NOT NULL,
        public_key TEXT NOT NULL,
        type TEXT NOT NULL,
        intent TEXT NOT NULL,
        reason TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;
      CREATE INDEX refusals_organization ON refusals (organization_id);

      CREATE TABLE smart_contract_interfaces (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        type TEXT NOT NULL,
        address TEXT NOT NULL,
        interface TEXT NOT NULL,
        label TEXT NOT NULL,
        notes TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;
      CREATE UNIQUE INDEX smart_contract_interfaces_address
        ON smart_contract_interfaces (organization_id, type, address);
    `,
  },
  {
    version: 6,
    sql: `
      -- All that lists of activities are searched by, so that a search reads no activity; who asked is in the first vote.
      DROP INDEX activities_organization;
      CREATE INDEX activities_places ON activities
        (organization_id, sequence, revision, type, status, created_at, substr(votes, 57, 36));

      -- Up to where in the log an endpoint's events have come to an end, or have a row in webhook_deliveries.
      ALTER TABLE webhook_endpoints ADD COLUMN place INTEGER;
      ALTER TABLE webhook_endpoints ADD COLUMN switched_off_at INTEGER;
      ALTER TABLE webhook_endpoints ADD COLUMN failing_since INTEGER;

      CREATE TABLE webhook_deliveries (
        organization_id TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        endpoint_id TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'refused', 'parked')),
        attempts INTEGER NOT NULL,
        next_at INTEGER NOT NULL,
        failing_since INTEGER,
        finished_at INTEGER,
        note TEXT,
        PRIMARY KEY (organization_id, sequence, endpoint_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (endpoint_id, sequence) WHERE state = 'waiting';


      CREATE TABLE credential_uses (
        credential_id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        used_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX credential_uses_organization ON credential_uses (organization_id);
      ${['api_keys', 'authenticators', 'read_only_sessions'].map(forgetUses).join('')}
      CREATE TABLE settings (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL,
        updated_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;

      CREATE INDEX wallet_accounts_address_search ON wallet_accounts (organization_id, address COLLATE NOCASE);
      CREATE INDEX wallet_accounts_name_search ON wallet_accounts (organization_id, name COLLATE NOCASE)
        WHERE name IS NOT NULL;
      CREATE INDEX organizations_name_search ON organizations (parent_id, name COLLATE NOCASE);

      CREATE TABLE freeze (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        frozen_at INTEGER NOT NULL
      ) STRICT;
    `,
  },
  {
    version: 7,
    sql: `
      -- Keys the numbers by which sub-organizations know rows, so that these do not tell how many rows others have.
      CREATE TABLE place_key (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        key BLOB NOT NULL
      ) STRICT;
      INSERT INTO place_key (one, key) VALUES (1, randomblob(32));
    `,
  },
  {
    version: 8,
    sql: `
      -- Counts accounts without reading them.
      CREATE INDEX wallet_accounts_formats ON wallet_accounts (wallet_id, address_format);

      CREATE TABLE key_uses (
        key_id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        used_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX key_uses_organization ON key_uses (organization_id);
      ${['wallets', 'private_keys'].map(forgetKeyUses).join('')}
    `,
  },
  {
    version: 9,
    sql: `
      CREATE TABLE security_events (
        sequence INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        way TEXT NOT NULL,
        count INTEGER NOT NULL,
        first_at INTEGER NOT NULL,
        last_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;
      CREATE INDEX security_events_kind ON security_events (kind, sequence);

      -- Of a locked vault, which authenticates nothing.
      CREATE TABLE security_events_waiting (
        kind TEXT NOT NULL,
        way TEXT NOT NULL,
        count INTEGER NOT NULL,
        first_at INTEGER NOT NULL,
        last_at INTEGER NOT NULL,
        PRIMARY KEY (kind, way)
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 10,
    sql: `
      CREATE TABLE known_addresses (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        name TEXT NOT NULL,
        address TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;
      CREATE UNIQUE INDEX known_addresses_name ON known_addresses (organization_id, name);
      CREATE UNIQUE INDEX known_addresses_address ON known_addresses (organization_id, address);
    `,
  },
  {
    version: 11,
    sql: `
      -- Of a program that comes over HTTP: the SHA-256 of its token, in hex.
      ALTER TABLE server_keys ADD COLUMN token_hash TEXT;
      CREATE UNIQUE INDEX server_keys_token ON server_keys (token_hash) WHERE token_hash IS NOT NULL;
    `,
  },
  {
    version: 12,
    sql: `
      CREATE TABLE wallet_labels (
        wallet_id TEXT PRIMARY KEY REFERENCES wallets (id) ON DELETE CASCADE,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        tags TEXT NOT NULL,
        archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
        mac BLOB
      ) STRICT;
      CREATE INDEX wallet_labels_organization ON wallet_labels (organization_id);
    `,
  },
  {
    version: 13,
    sql: `
      CREATE TABLE ethereum_nodes (
        chain_id TEXT PRIMARY KEY,
        origin TEXT NOT NULL,
        sealed BLOB NOT NULL,
        updated_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;

      CREATE TABLE ethereum_transactions (
        id TEXT PRIMARY KEY,
        program TEXT NOT NULL,
        request TEXT NOT NULL,
        chain TEXT NOT NULL,
        address TEXT NOT NULL,
        nonce TEXT NOT NULL,
        unsigned TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('asked', 'sent', 'answered')),
        hash TEXT,
        created_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;
      CREATE INDEX ethereum_transactions_account ON ethereum_transactions (chain, address, created_at);
     `,
  },
  {
    version: 14,
    sql: `
      CREATE TABLE secrets (
        sequence INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        name TEXT,
        static_properties TEXT NOT NULL,
        sealed BLOB NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;
      CREATE UNIQUE INDEX secrets_name ON secrets (organization_id, name);
    `,
  },
  {
    version: 15,
    sql: `
      CREATE TABLE session_profiles (
        id TEXT PRIMARY KEY,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        name TEXT NOT NULL,
        scope TEXT NOT NULL,
        expiration_seconds INTEGER,
        notes TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        mac BLOB
      ) STRICT;
      CREATE UNIQUE INDEX session_profiles_name ON session_profiles (organization_id, name);

      ALTER TABLE api_keys ADD COLUMN session_profile_id TEXT REFERENCES session_profiles (id);
    `,
  },
  {
    version: 16,
    sql: `
      ALTER TABLE ethereum_nodes ADD COLUMN previews INTEGER CHECK (previews IN (0, 1));
    `,
  },
];
