package memprovider

import (
	"context"

	"github.com/durosim/durosim/engine"
)

// ListChildren implements engine.ProviderAdmin.
func (p *provider) ListChildren(_ context.Context, instance string) ([]string, error) {
	return observed(p, "list_children", instance, func(s *Store) ([]string, *engine.ProviderError) { return s.children(instance), nil })
}

func (s *Store) children(parent string) []string {
	var names []string
	for _, in := range s.childrenOf[parent] {
		names = append(names, in.name)
	}
	return names
}

// GetParentID implements engine.ProviderAdmin.
func (p *provider) GetParentID(_ context.Context, instance string) (string, error) {
	return observed(p, "get_parent_id", instance, func(s *Store) (string, *engine.ProviderError) {
		in := s.known(instance)
		if in == nil || !in.meta.created {
			return "", notFound("get_parent_id", "instance", instance)
		}
		return in.meta.parent.Instance, nil
	})
}

// GetInstanceTree implements engine.ProviderAdmin. The root comes first, and parents come before children.
func (p *provider) GetInstanceTree(_ context.Context, root string) (*engine.InstanceTree, error) {
	return observed(p, "get_instance_tree", root, func(s *Store) (*engine.InstanceTree, *engine.ProviderError) {
		return &engine.InstanceTree{RootID: root, AllIDs: s.tree(root)}, nil
	})
}

// tree returns the names of an instance and all its descendants, parents before children.
func (s *Store) tree(root string) []string {
	ids := []string{root}
	for i := 0; i < len(ids); i++ {
		for _, child := range s.children(ids[i]) {
			if child != root { // parents may form a cycle: each has one, so it is the root's
				ids = append(ids, child)
			}
		}
	}
	return ids
}
