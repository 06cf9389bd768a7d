//! The key under which the text of a lowered plan is cached.

use super::lower::op_text;
use super::lowered::{Column, DrivingSource, EdgeParams, EdgeStatus, Lowered, MemberSource, ResultKind, Sort, Test};
use std::fmt::Write;

impl Lowered<'_> {
    /// The key of the shape. Two plans with the same key have the same text.
    pub fn shape(&self) -> String {
        let mut key = Shape(String::with_capacity(160));
        key.tag(match self.want {
            ResultKind::Rows | ResultKind::OrderedRows => "rows",
            ResultKind::Count => "count",
            ResultKind::Sum => "sum",
            ResultKind::Groups => "groups",
        });
        key.tag(&self.table.def.name);
        for (table, _) in &self.extensions {
            key.tag(&table.def.name);
        }
        key.tag(":");
        self.columns.iter().for_each(|c| key.column(c));
        key.tag(if self.grouped.is_some() { "targets" } else { "" });
        key.tag(&self.width.map_or_else(String::new, |width| width.to_string()));
        match &self.lead {
            None => {}
            Some(DrivingSource::Keys(_)) => key.tag("keys"),
            Some(DrivingSource::Edges(edges)) => {
                key.tag("edges");
                key.edge_params(&edges.index);
                key.tag(edges.descending.map_or("", |d| if d { "-" } else { "+" }));
            }
            Some(DrivingSource::Extension(alias)) => {
                key.tag("extension");
                key.tag(&alias.to_string());
            }
            Some(DrivingSource::RowsPerMember(per_member)) => {
                key.tag("per_member");
                match &per_member.source {
                    MemberSource::Edges(index) => key.edge_params(index),
                    MemberSource::Column(column, sort) => {
                        key.column(column);
                        key.column(sort);
                    }
                }
                key.tag(if per_member.descending { "-" } else { "+" });
                key.tests(&per_member.filter);
            }
        }
        key.tests(&self.filter);
        self.order.iter().for_each(|s| key.sort(s));
        key.tag(if self.limit.is_some() { "limit" } else { "" });
        key.tag(self.index.map_or("", |index| &index.name));
        key.0
    }
}

/// Writes a shape's key.
struct Shape(String);

impl Shape {
    fn tag(&mut self, tag: &str) {
        self.0.push_str(tag);
        self.0.push(' ');
    }

    fn column(&mut self, column: &Column<'_>) {
        write!(self.0, "{}.{}{}", column.alias, column.name, if column.default.is_some() { "~ " } else { " " })
            .expect("text takes text");
    }

    fn edge_params(&mut self, index: &EdgeParams) {
        self.tag(match index.status {
            EdgeStatus::Of(_) => "=",
            EdgeStatus::Unset => "null",
            EdgeStatus::Any => "any",
        });
    }

    fn tests(&mut self, tests: &[Test<'_>]) {
        self.0.push('(');
        tests.iter().for_each(|t| self.test(t));
        self.0.push(')');
    }

    fn test(&mut self, test: &Test<'_>) {
        match test {
            Test::All(tests) => {
                self.0.push('&');
                self.tests(tests);
            }
            Test::Any(tests) => {
                self.0.push('|');
                self.tests(tests);
            }
            Test::Not(test) => {
                self.0.push('!');
                self.test(test);
            }
            Test::Compare(column, op, _) => {
                self.tag(op_text(*op));
                self.column(column);
            }
            Test::AboveZero(column) => {
                self.tag("above 0");
                self.column(column);
            }
            Test::In(column, _) => {
                self.tag("in");
                self.column(column);
            }
            Test::IsNull(column) => {
                self.tag("null");
                self.column(column);
            }
            Test::Contains(columns, _) => {
                self.tag("contains");
                columns.iter().for_each(|c| self.column(c));
                self.tag(".");
            }
            Test::Same(columns, _) => {
                self.tag("same");
                columns.iter().for_each(|c| self.column(c));
                self.tag(".");
            }
            Test::HasWord(column, _) => {
                self.tag("word");
                self.column(column);
            }
            Test::HasMember(column, ..) => {
                self.tag("member");
                self.column(column);
            }
            Test::Related { table, inner, outer, filter } => {
                self.tag("related");
                self.tag(&table.def.name);
                self.column(inner);
                self.column(outer);
                self.test(filter);
            }
            Test::Linked(linked) => {
                let flag = |on, yes, no| if on { yes } else { no };
                self.tag(flag(linked.forward, "to", "from"));
                self.tag(flag(linked.one, "1", "*"));
                self.tag(flag(linked.gathered, "set", "probe"));
                self.column(&linked.key);
            }
            Test::LinkedTo(linked) => {
                self.tag(if linked.gathered { "to set" } else { "to probe" });
                self.tag(&linked.table.def.name);
                self.column(&linked.key);
                self.test(&linked.filter);
            }
        }
    }

    fn sort(&mut self, sort: &Sort<'_>) {
        match sort {
            Sort::Column(column, descending, last) => {
                self.tag(if *descending { "-" } else { "+" });
                self.tag(if *last { "last" } else { "" });
                self.column(column);
            }
            Sort::Given(column, ..) => {
                self.tag("given");
                self.column(column);
            }
            Sort::Keys => self.tag("as led"),
            Sort::First(test) => {
                self.tag("first");
                self.test(test);
            }
        }
    }
}
