//! The tables, and the steps from each format to the next.

/// Marks the file as ours (`Artl` in ASCII), so that another database is never taken for a
/// journal.
pub(crate) const APPLICATION_ID: i32 = 0x4172_746c;

/// One step from a format to the next.
pub(crate) struct JournalMigration {
    /// Format that the step leads to.
    pub(crate) to: u32,
    /// Statements that carry it out.
    pub(crate) sql: &'static str,
}

/// Every step, in order. A stored format never changes after its release.
pub(crate) const MIGRATIONS: &[JournalMigration] = &[
    JournalMigration {
        to: 1,
        sql: FORMAT_1,
    },
    JournalMigration {
        to: 2,
        sql: FORMAT_2,
    },
];

/// The events, and what guards them. Rows are in the order of appending, because clustering
/// by stream made appends up to three times slower. No constraint prevents a change from
/// outside: such a change is to be found and named.
const FORMAT_1: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE event (
        seq INTEGER PRIMARY KEY,
        stream TEXT NOT NULL,
        stream_seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        trace TEXT NOT NULL,
        session TEXT,
        run TEXT,
        cause INTEGER,
        actor TEXT NOT NULL,
        via TEXT,
        kind TEXT NOT NULL,
        target TEXT,
        outcome TEXT,
        visibility TEXT NOT NULL,
        schema INTEGER NOT NULL,
        payload TEXT NOT NULL,
        prev BLOB NOT NULL,
        hash BLOB NOT NULL
    );
    CREATE INDEX event_stream ON event (stream, stream_seq);
    CREATE INDEX event_trace ON event (trace);
    CREATE INDEX event_kind ON event (kind);
    CREATE INDEX event_at ON event (at);
    CREATE INDEX event_run ON event (run) WHERE run IS NOT NULL;
    CREATE INDEX event_session ON event (session) WHERE session IS NOT NULL;
    CREATE TABLE head (id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, hash BLOB NOT NULL);
    CREATE TABLE checkpoint (
        seq INTEGER PRIMARY KEY,
        hash BLOB NOT NULL,
        at INTEGER NOT NULL,
        signer BLOB NOT NULL,
        signature BLOB NOT NULL
    );
    CREATE TABLE lease (
        name TEXT PRIMARY KEY,
        token INTEGER NOT NULL,
        owner TEXT,
        expires_wall INTEGER NOT NULL,
        expires_uptime INTEGER NOT NULL
    );
    CREATE TABLE snapshot (
        name TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        hash BLOB NOT NULL,
        state BLOB NOT NULL
    );
";

/// Archives record where pruned streams went, so that the chain can still be followed. From
/// here on snapshots are signed; older ones are dropped, as they can be at any time. The
/// index on sessions cost every append a page at a random place, for a question that is
/// seldom asked.
const FORMAT_2: &str = "
    DROP INDEX event_session;
    DROP TABLE snapshot;
    CREATE TABLE snapshot (
        name TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        hash BLOB NOT NULL,
        state BLOB NOT NULL,
        signature BLOB NOT NULL
    );
    CREATE TABLE archive (
        file TEXT PRIMARY KEY,
        events INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        digest BLOB NOT NULL,
        signer BLOB NOT NULL,
        signature BLOB NOT NULL
    );
    CREATE TABLE archived_stream (
        stream TEXT PRIMARY KEY,
        stream_seq INTEGER NOT NULL,
        file TEXT NOT NULL
    );
";

/// Returns the format that this build writes.
pub(crate) fn newest() -> u32 {
    MIGRATIONS.last().map_or(0, |migration| migration.to)
}
