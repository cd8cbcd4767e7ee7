// Package undertest describes the provider under test: a factory of empty stores, with the operations that a test can
// make on each. The cases of properties/conformance and the sequences of properties/oracle/search take the same factory.
//
//	factory := undertest.Factory{New: func() (*undertest.Store, error) {
//		clock := newTestClock()
//		store := mystore.Open(t.TempDir(), clock)
//		return &undertest.Store{Provider: store, NowMs: clock.Ms, Advance: clock.Advance, Close: func() { store.Close() }}, nil
//	}}
package undertest
