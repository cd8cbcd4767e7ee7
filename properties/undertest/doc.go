// Package undertest describes the provider under test: a factory that makes empty stores, and the operations that a
// test can perform on each store. The cases of properties/conformance and the sequences of properties/oracle/search use
// the same factory.
//
//	factory := undertest.Factory{New: func() (*undertest.Store, error) {
//		clock := newTestClock()
//		store := mystore.Open(t.TempDir(), clock)
//		return &undertest.Store{Provider: store, NowMs: clock.Ms, Advance: clock.Advance, Close: func() { store.Close() }}, nil
//	}}
package undertest
