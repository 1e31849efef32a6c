//! Weights as lists of numbers, for checkpoints, and back. What does not fit is refused.

use crate::links::Links;
use crate::weights::{Shape, Store, Weights, flat, quads};
use rosenblatt_core::state::{List, State, StateError, refuse};

/// The lists of a store.
const LISTS: [&str; 4] = ["table", "pairs", "triples", "links"];

pub(crate) fn save_store(store: &Store, name: &str, state: &mut State<'_>) {
    state.push(format!("{name}-index"), List::U32(store.index.clone().into()));
    for (list, part) in store.lists().into_iter().zip(LISTS) {
        state.push(format!("{name}-{part}"), List::F64(flat(list).into()));
    }
}

pub(crate) fn restore_store(
    shape: Shape,
    fill: f64,
    name: &str,
    state: &mut State<'_>,
) -> Result<Store, StateError> {
    let index = state.take_u32s(&format!("{name}-index"))?;
    let mut lists = [const { Vec::new() }; LISTS.len()];
    for (list, part) in lists.iter_mut().zip(LISTS) {
        *list = quads(&state.take_f64s(&format!("{name}-{part}"))?);
    }
    Store::of_lists(shape, fill, index, lists).ok_or_else(|| refuse("the weights do not fill their rows"))
}

impl Weights {
    /// Everything, as lists whose names begin with this one.
    pub fn save(&self, name: &str, state: &mut State<'_>) {
        let (heads, entries) = self.links.numbers();
        let lists = [("rows", self.rows.clone()), ("heads", heads.to_vec()), ("entries", entries)];
        for (part, list) in lists {
            state.push(format!("{name}-{part}"), List::U32(list.into()));
        }
        save_store(&self.store, name, state);
    }

    /// What was saved under this name: weights of this shape, of this many attributes.
    pub fn restore(
        shape: Shape,
        n_attributes: usize,
        name: &str,
        state: &mut State<'_>,
    ) -> Result<Self, StateError> {
        let mut take = |part: &str| state.take_u32s(&format!("{name}-{part}"));
        let (rows, heads, entries) = (take("rows")?, take("heads")?, take("entries")?);
        if rows.len() != n_attributes {
            return Err(refuse("there are other attributes than the sentences have"));
        }
        let links = Links::of_numbers(heads, &entries, (shape.n_labels, shape.quads()));
        let links = links.ok_or_else(|| refuse("the lists of links lead astray"))?;
        let store = restore_store(shape, 0.0, name, state)?;
        if store.links.len() != links.len() {
            return Err(refuse("the weights of links do not fit their lists"));
        }
        if rows.iter().any(|row| *row as usize >= store.n_rows()) {
            return Err(refuse("an attribute has a row that is not there"));
        }
        Ok(Self { rows, links, store })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::Order;

    #[test]
    fn weights_come_back_and_only_those_of_labels_and_attributes_that_are_there() {
        let shape = Shape { n_labels: 3, order: Order::First };
        let mut weights = Weights::zero(shape, 2);
        weights.set_attribute(1, 2, 0.5);
        weights.set_link(0, 1, 2, -1.0);
        let again = |weights: &Weights, n_attributes| {
            let mut state = State::default();
            weights.save("weights", &mut state);
            Weights::restore(shape, n_attributes, "weights", &mut state)
        };
        assert_eq!(again(&weights, 2).unwrap(), weights);
        assert!(again(&weights, 1).is_err() && again(&weights, 3).is_err());
        // A fourth label stands beside three, and there is none.
        weights.store.links[0].0[3] = 7.0;
        assert_eq!(again(&weights, 2).unwrap().links_of(0), [(1, 2, -1.0)]);
    }
}
