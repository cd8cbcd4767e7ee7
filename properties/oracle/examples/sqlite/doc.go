// Package sqlite is a provider that keeps everything in an SQLite database. It is an example of a provider under test,
// and passes the checks that docs/check-your-provider.md recommends to authors of providers.
//
// The tables are those of docs/contract/provider.md#p3.1 (schema.sql), and each concern has its own file. Each call,
// including each read, is a single transaction. It takes the database's only write lock at its start and reads the
// clock at that instant. So every call takes effect at one instant, no matter which process makes it.
//
// Where the contract leaves a choice, the provider gives the answer that is easier to rely on. The tests list the
// freedoms that it does not use, in promised.
//
// # Limits
//
// Calls run one after another, so a store can serve only as many calls as one disk can commit. Fetches do not wait for
// work. The synchronous mode is NORMAL: after a power loss, the last commits may be missing, but never part of a
// commit.
package sqlite
