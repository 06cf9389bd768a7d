//! Shapes: values that are put together from expressions, as declarations write them.
//!
//! A text is an expression; a table a structure of shapes; a list a list of them. `each` maps a list, `shape` names a
//! shape that is declared once. Compiled at boot; evaluating one touches nothing but its names.

use super::value::{Value, elements};
use super::words::Expression;
use minijinja::Error;
use minijinja::value::Object;
use std::collections::HashSet;
use std::sync::Arc;

/// A compiled shape.
#[derive(Debug)]
pub enum ValueShape {
    Expression(Expression),
    /// A number or truth value as written.
    Constant(Value),
    List(Vec<ValueShape>),
    Structure {
        /// Evaluates to a map whose members come first; the own ones replace them.
        rest: Option<Box<ValueShape>>,
        members: Vec<(Arc<str>, ValueShape)>,
    },
    Each(Box<ListShape>),
    /// A declared shape with further names, and perhaps only some of its members.
    Named {
        with: Vec<(Arc<str>, ValueShape)>,
        shape: Box<ValueShape>,
        pick: Option<MemberSelection>,
    },
}

/// One shape for each element of a list: a list, or a map when there is a key.
#[derive(Debug)]
pub struct ListShape {
    pub list: Expression,
    pub item: Arc<str>,
    /// Elements for which this is not true are left out.
    pub when: Option<Expression>,
    pub key: Option<Expression>,
    pub shape: ValueShape,
}

/// Which members of a structure are wanted.
#[derive(Debug)]
pub struct MemberSelection {
    /// A list of names; all members are wanted when it is undefined or no list.
    pub only: Expression,
    pub always: Vec<String>,
    /// Names that represent several members.
    pub groups: Vec<(String, Vec<String>)>,
}

impl ValueShape {
    /// The value; undefined when an expression is.
    ///
    /// # Errors
    /// A value had another type than an expression needs.
    pub fn eval(&self, names: &Bindings) -> Result<Value, Error> {
        self.eval_some(names, None)
    }

    fn eval_some(&self, names: &Bindings, wanted: Option<&HashSet<String>>) -> Result<Value, Error> {
        match self {
            ValueShape::Expression(expression) => expression.eval(names.value()),
            ValueShape::Constant(value) => Ok(value.clone()),
            ValueShape::List(shapes) => {
                let values = shapes.iter().map(|shape| shape.eval(names));
                let values = values.filter(|value| !value.as_ref().is_ok_and(Value::is_undefined));
                values.collect::<Result<Vec<Value>, Error>>().map(Value::from)
            }
            ValueShape::Structure { rest, members } => {
                let mut pairs: Vec<(Value, Value)> = Vec::with_capacity(members.len());
                if let Some(rest) = rest {
                    let rest = rest.eval(names)?;
                    pairs
                        .extend(super::value::members(&rest).into_iter().map(|(key, value)| (Value::from(key), value)));
                }
                for (name, shape) in members {
                    if wanted.is_none_or(|wanted| wanted.contains(&**name)) {
                        let value = shape.eval(names)?;
                        if !value.is_undefined() {
                            pairs.push((Value::from(&**name), value));
                        }
                    }
                }
                Ok(Value::from_pairs(pairs))
            }
            ValueShape::Each(each) => each.eval(names),
            ValueShape::Named { with, shape, pick } => {
                let mut inner = names.clone();
                for (name, shape) in with {
                    let value = shape.eval(names)?;
                    inner = inner.and(name, value);
                }
                match pick {
                    Some(pick) => shape.eval_some(&inner, pick.wanted(names)?.as_ref()),
                    None => shape.eval_some(&inner, wanted),
                }
            }
        }
    }
}

impl ListShape {
    fn eval(&self, names: &Bindings) -> Result<Value, Error> {
        let (mut values, mut pairs) = (Vec::new(), Vec::new());
        for element in elements(&self.list.eval(names.value())?) {
            let names = names.and(&self.item, element);
            if let Some(when) = &self.when
                && !when.eval(names.value())?.is_true()
            {
                continue;
            }
            let value = self.shape.eval(&names)?;
            match &self.key {
                _ if value.is_undefined() => {}
                Some(key) => pairs.push((key.eval(names.value())?, value)),
                None => values.push(value),
            }
        }
        Ok(if self.key.is_some() { Value::from_pairs(pairs) } else { Value::from(values) })
    }
}

impl MemberSelection {
    fn wanted(&self, names: &Bindings) -> Result<Option<HashSet<String>>, Error> {
        let only = self.only.eval(names.value())?;
        if only.kind() != minijinja::value::ValueKind::Seq {
            return Ok(None);
        }
        let mut wanted: HashSet<String> = self.always.iter().cloned().collect();
        for name in elements(&only) {
            let name = name.to_string();
            match self.groups.iter().find(|(group, _)| *group == name) {
                Some((_, members)) => wanted.extend(members.iter().cloned()),
                None => {
                    wanted.insert(name);
                }
            }
        }
        Ok(Some(wanted))
    }
}

/// The names that expressions see: a chain, of which later steps see more. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Bindings(Option<Arc<Binding>>);

#[derive(Debug)]
struct Binding {
    name: Arc<str>,
    value: Value,
    rest: Bindings,
}

impl Bindings {
    /// These names and one more, which hides an earlier one of the same spelling.
    #[must_use]
    pub fn and(&self, name: &Arc<str>, value: Value) -> Bindings {
        Bindings(Some(Arc::new(Binding { name: Arc::clone(name), value, rest: self.clone() })))
    }

    /// The value behind a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let mut link = self.0.as_deref();
        while let Some(current) = link {
            if &*current.name == name {
                return Some(&current.value);
            }
            link = current.rest.0.as_deref();
        }
        None
    }

    /// The value that expressions are evaluated with.
    pub fn value(&self) -> Value {
        match &self.0 {
            Some(link) => Value::from_dyn_object(Arc::clone(link)),
            None => Value::from_pairs::<_, &str, Value>([]),
        }
    }
}

impl Object for Binding {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let key = key.as_str()?;
        if &*self.name == key { Some(self.value.clone()) } else { self.rest.get(key).cloned() }
    }
}
