package track

import (
	"slices"

	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/model"
)

// Row returns the entry of a message. It is empty for number 0 and for a message that was released.
func (s *State) Row(no observe.MessageNo) *Row {
	if no == 0 {
		s.gone = Row{}
		return &s.gone
	}
	page := (int(no) - 1) / model.RowsPerPage
	for len(s.pages) <= page {
		s.pages = append(s.pages, s.room.New())
		s.letGo()
	}
	if s.pages[page] == nil {
		s.gone = Row{}
		return &s.gone
	}
	return &s.pages[page][(int(no)-1)%model.RowsPerPage]
}

// keptPages is the number of newest pages of messages that are never released. After every tryEvery new pages, older
// pages that are no longer needed are released. A run of the usual size keeps all pages, a large run those with open
// messages.
const (
	keptPages = 64
	tryEvery  = 16
)

// letGo releases messages, here and in the model, that have left their queues and that no node holds. A checker asks
// for a message only while it is queued, in the call that removes it, and while a node may still decide about its
// delivery.
func (s *State) letGo() {
	n := len(s.pages) - keptPages
	if n <= 0 || n%tryEvery != 0 {
		return
	}
	for page := n - tryEvery; page < n; page++ {
		s.held = append(s.held, page)
	}
	delivered := s.deliveredPages()
	s.held = slices.DeleteFunc(s.held, func(page int) bool {
		if _, has := slices.BinarySearch(delivered, page); has || page >= s.Run.Model.Pages() || !s.Run.Model.LetGo(page) {
			return false
		}
		s.pages[page] = nil
		return true
	})
}

// deliveredPages returns the pages of the messages in the last deliveries to nodes, ascending.
func (s *State) deliveredPages() []int {
	var pages []int
	for i := range s.Nodes {
		for _, slots := range [][]Slot{s.Nodes[i].Turns, s.Nodes[i].Activities} {
			for j := range slots {
				for k := range slots[j].Recent {
					for _, no := range slots[j].Recent[k].Messages {
						pages = append(pages, (int(no)-1)/model.RowsPerPage)
					}
				}
			}
		}
	}
	slices.Sort(pages)
	return pages
}
