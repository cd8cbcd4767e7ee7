// Package sqlite is a provider that keeps everything in an SQLite database. It is an example of a provider under test,
// and passes the checks that docs/check-your-provider.md recommends to authors of providers.
//
// The tables are those of docs/contract/provider.md#p3.1 (schema.sql), with one file for each concern. Each call is one
// transaction, which takes the database's only write lock when it begins: it takes effect at one instant, whichever
// process makes it, and reads its clock at that instant. Reads are such calls, too.
//
// Where the contract leaves a choice, the provider gives the answer that is easier to rely on: promised, in the tests,
// lists the freedoms that it does not use.
//
// # Limits
//
// Calls run one after another, so a store serves as many as one disk can commit. Fetches do not wait for work.
// Synchronous is NORMAL: after a loss of power the last commits may be missing, though never a part of one.
package sqlite
