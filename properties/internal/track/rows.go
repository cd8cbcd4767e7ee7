package track

import (
	"slices"

	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
)

// Row returns a message's entry. The entry is empty for number 0 and for a released message.
func (s *State) Row(no observe.MessageNo) *Row {
	if at := uint64(no) - 1; at/model.RowsPerPage < uint64(len(s.pages)) && s.pages[at/model.RowsPerPage] != nil {
		return &s.pages[at/model.RowsPerPage][at%model.RowsPerPage]
	}
	return s.newRow(no)
}

// newRow allocates the page of a row. It returns an empty row for 0 and for a row whose page was released.
func (s *State) newRow(no observe.MessageNo) *Row {
	if no == 0 {
		s.gone = Row{}
		return &s.gone
	}
	page := (int(no) - 1) / model.RowsPerPage
	for len(s.pages) <= page {
		s.pages = append(s.pages, s.made.New())
		s.letGo()
	}
	if s.pages[page] == nil {
		s.gone = Row{}
		return &s.gone
	}
	return &s.pages[page][(int(no)-1)%model.RowsPerPage]
}

// keptPages is how many of the most recent message pages are always kept. After every tryEvery new pages, older pages
// that are no longer needed are released. A typical run keeps every page; in a large run, the only older pages kept are
// those with open messages.
const (
	keptPages = 64
	tryEvery  = 16
)

// letGo releases messages, both from this state and from the model, once they have left their queues and no node holds
// them. A checker asks for a message only while it is queued, during the call that removes it, and while a node may
// still decide about its delivery.
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

// deliveredPages returns the pages of the messages in each node's most recent deliveries, in ascending order.
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
