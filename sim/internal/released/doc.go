// Package released says what a cluster needs of a released runtime that runs as one of its nodes. Package realnode
// implements [Runtimes] with host programs, and users hand its Hosts to a run as cluster.Config.Releases.
package released
