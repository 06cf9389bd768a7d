//! Text for a lowered read plan.

use super::super::plan::{ColumnType, Op};
use super::super::statement::Dialect;
use super::dialect::{LIST_PLACE, LIST_VALUE, param};
use super::lowered::{
    Column, DrivingSource, EdgeParams, EdgeStatus, Edges, Linked, LinkedTo, Lowered, MemberSource, Rendered,
    ResultKind, RowsPerMember, Sort, Test,
};
use sea_query::{Alias, BinOper, Cond, Expr, ExprTrait, JoinType, NullOrdering, Order, Query, SelectStatement};

const EDGE: &str = "e";
const KEYS: &str = "k";
const PER_MEMBER: &str = "r";

/// More conditions on other rows are not for a planner to find the best order of.
const CROWD: usize = 6;

impl Lowered<'_> {
    /// The statement of this shape.
    pub fn render(&self, dialect: Dialect) -> Rendered {
        let mut select = Query::select();
        self.select_columns(&mut select, dialect);
        self.select_from(&mut select, dialect);
        let crowded = self.filter.iter().filter(|test| reads_rows(test)).count() > CROWD;
        for test in &self.filter {
            let holds = expr(test, dialect);
            select.and_where(if crowded && reads_rows(test) { dialect.probed(holds) } else { holds });
        }
        self.select_order(&mut select, dialect);
        if let Some((most, offset)) = self.limit {
            select.limit(most as u64).offset(offset as u64);
        }
        let (mut text, order) = dialect.build(&select);
        if let (Dialect::Sqlite, Some(index)) = (dialect, self.index) {
            text = indexed_by(&text, &self.table.index_name(index));
        }
        // Behind a value is its number of rows.
        let counted = (self.want == ResultKind::Groups).then_some(false);
        Rendered { text, order, words: self.columns.iter().map(|c| c.ty == ColumnType::Word).chain(counted).collect() }
    }

    fn select_columns(&self, select: &mut SelectStatement, dialect: Dialect) {
        match self.want {
            ResultKind::Count => select.expr(Expr::cust("count(*)")),
            ResultKind::Sum => select.exprs(self.columns.iter().map(|c| dialect.sum(column(c)))),
            ResultKind::Groups => {
                let by = |own: &Column<'_>| {
                    self.width.map_or_else(|| column(own), |width| dialect.rounded_down(column(own), width))
                };
                select.exprs(self.columns.iter().map(by)).expr(Expr::cust("count(*)"));
                // By position: what is grouped by is the selected expression.
                let places = (1..=self.columns.len()).map(|place| Expr::cust(place.to_string()));
                select.add_group_by(places.collect::<Vec<_>>());
                select.order_by_expr(Expr::cust("count(*)"), sea_query::Order::Desc);
                select.order_by_expr_with_nulls(Expr::cust("1"), sea_query::Order::Asc, sea_query::NullOrdering::First)
            }
            ResultKind::Rows | ResultKind::OrderedRows if self.columns.is_empty() => select.expr(Expr::cust("1")),
            ResultKind::Rows | ResultKind::OrderedRows => select.exprs(self.columns.iter().map(column)),
        };
    }

    fn select_from(&self, select: &mut SelectStatement, dialect: Dialect) {
        let table = Alias::new(&*self.table.def.name);
        let (key, key_type) = (&*self.table.def.key.name, self.table.def.key.ty);
        // A cross join keeps its order: the first table leads.
        match &self.lead {
            None => {
                select.from_as(table, alias(0));
            }
            Some(DrivingSource::Keys(list)) => {
                select.from(dialect.list_table(*list, key_type, KEYS));
                select.join_as(JoinType::CrossJoin, table, alias(0), Cond::all());
                select.and_where(at(0, key).eq(Expr::col((KEYS, LIST_VALUE))));
            }
            Some(DrivingSource::Extension(number)) => {
                for (extension, _) in self.extensions.iter().filter(|(_, own)| own == number) {
                    select.from_as(Alias::new(&*extension.def.name), alias(*number));
                    select.and_where(at(0, key).eq(at(*number, &extension.def.key.name)));
                }
                select.join_as(JoinType::CrossJoin, table, alias(0), Cond::all());
            }
            Some(DrivingSource::Edges(edges)) => {
                let of_target = edges_test(&edges.index, param(edges.dst));
                // Every edge has its row, so that edges alone can be counted.
                if self.want == ResultKind::Count && self.filter.iter().all(|test| self.tests_key(test)) {
                    let mut keys = Query::select();
                    keys.expr_as(edge("src"), Alias::new(key)).from_as("edge", EDGE).and_where(of_target);
                    select.from_subquery(keys, alias(0));
                } else {
                    select.from_as("edge", EDGE);
                    select.join_as(JoinType::CrossJoin, table, alias(0), Cond::all());
                    select.and_where(of_target).and_where(at(0, key).eq(edge("src")));
                }
            }
            Some(DrivingSource::RowsPerMember(per_member)) => self.select_per_member(select, per_member, dialect),
        }
        let leads = |number: u32| matches!(self.lead, Some(DrivingSource::Extension(own)) if own == number);
        for (table, number) in self.extensions.iter().filter(|(_, number)| !leads(*number)) {
            let same = at(*number, &table.def.key.name).eq(at(0, key));
            select.join_as(JoinType::LeftJoin, Alias::new(&*table.def.name), alias(*number), same);
        }
        if let (Some((rel, key)), [target]) = (&self.grouped, self.columns.as_slice()) {
            let end = |name: &str| at(target.alias, name);
            let own = end("src").eq(column(key)).and(end("rel").eq(param(*rel)));
            select.join_as(JoinType::LeftJoin, "edge", alias(target.alias), own);
        }
        for sort in &self.order {
            if let Sort::Given(by, list, number) = sort {
                let same = at(*number, LIST_VALUE).eq(column(by));
                select.join(JoinType::LeftJoin, dialect.list_table(*list, by.ty, &alias_name(*number)), same);
            }
        }
    }

    fn select_per_member(&self, select: &mut SelectStatement, per_member: &RowsPerMember<'_>, dialect: Dialect) {
        let (table, key) = (Alias::new(&*self.table.def.name), &*self.table.def.key.name);
        let members = match &per_member.source {
            MemberSource::Edges(_) => ColumnType::Int,
            MemberSource::Column(by, _) => by.ty,
        };
        let list = dialect.list_table(per_member.members, members, KEYS);
        let keys = self.first_keys(per_member, dialect);
        match dialect {
            Dialect::Sqlite => {
                select.from(list).join_as(JoinType::CrossJoin, table, alias(0), Cond::all());
                select.and_where(at(0, key).in_subquery(keys));
                if let MemberSource::Edges(_) = per_member.source {
                    // A row may belong to several members.
                    select.group_by_col((alias(0), Alias::new(key)));
                }
            }
            Dialect::Postgres => {
                let mut lists = Query::select();
                lists.column((PER_MEMBER, Alias::new(key))).from(list);
                lists.join_lateral(JoinType::InnerJoin, keys, PER_MEMBER, Cond::all());
                select.from_as(table, alias(0)).and_where(at(0, key).in_subquery(lists));
            }
        }
    }

    /// The keys of the first rows for one member of a list.
    fn first_keys(&self, per_member: &RowsPerMember<'_>, dialect: Dialect) -> SelectStatement {
        let member = Expr::col((KEYS, LIST_VALUE));
        let key = || at(per_member.alias, &self.table.def.key.name);
        let table = Alias::new(&*self.table.def.name);
        let descending = per_member.descending;
        let mut keys = Query::select();
        keys.expr(key());
        match &per_member.source {
            MemberSource::Edges(index) => {
                keys.from_as("edge", EDGE).join_as(JoinType::CrossJoin, table, alias(per_member.alias), Cond::all());
                keys.and_where(edges_test(index, member)).and_where(key().eq(edge("src")));
                dialect.order(&mut keys, edge("sort"), descending, false);
                dialect.order(&mut keys, edge("src"), descending, true);
            }
            MemberSource::Column(by, sort) => {
                keys.from_as(table, alias(per_member.alias)).and_where(column(by).eq(member));
                dialect.order(&mut keys, column(sort), descending, self.is_key(sort));
                dialect.order(&mut keys, key(), descending, true);
            }
        }
        for test in &per_member.filter {
            keys.and_where(expr(test, dialect));
        }
        keys.limit(per_member.most as u64).take()
    }

    /// Whether a condition looks at nothing but the key of the rows.
    fn tests_key(&self, test: &Test<'_>) -> bool {
        match test {
            Test::All(tests) | Test::Any(tests) => tests.iter().all(|test| self.tests_key(test)),
            Test::Not(test) => self.tests_key(test),
            Test::Compare(of, ..) | Test::AboveZero(of) | Test::In(of, _) | Test::IsNull(of) => {
                of.alias == 0 && self.is_key(of)
            }
            _ => false,
        }
    }

    /// Whether the column is the key of the rows, which none of them lacks.
    fn is_key(&self, column: &Column<'_>) -> bool {
        *column.name == *self.table.def.key.name
    }

    /// Whether it is the key of the rows, of the table itself or of an extension that has the same.
    fn is_key_of_row(&self, column: &Column<'_>) -> bool {
        column.alias == 0 && self.is_key(column)
            || self.extensions.iter().any(|(table, own)| *own == column.alias && *column.name == *table.def.key.name)
    }

    fn select_order(&self, select: &mut SelectStatement, dialect: Dialect) {
        if let Some(DrivingSource::Edges(Edges { descending: Some(descending), .. })) = self.lead {
            dialect.order(select, edge("sort"), descending, false);
            dialect.order(select, edge("src"), descending, true);
        }
        for sort in &self.order {
            match sort {
                // Null is the least: a descending order has it last.
                Sort::Column(by, false, true) => {
                    select.order_by_expr_with_nulls(readable(by), Order::Asc, NullOrdering::Last);
                }
                Sort::Column(by, descending, _) => {
                    dialect.order(select, readable(by), *descending, self.is_key_of_row(by));
                }
                Sort::Given(_, _, number) => {
                    let place = || at(*number, LIST_PLACE);
                    select.order_by_expr(place().is_null(), Order::Asc).order_by_expr(place(), Order::Asc);
                }
                Sort::Keys => {
                    select.order_by_expr(Expr::col((KEYS, LIST_PLACE)), Order::Asc);
                }
                Sort::First(test) => {
                    select.order_by_expr(dialect.is_true(expr(test, dialect), true), Order::Desc);
                }
            }
        }
    }
}

fn edges_test(index: &EdgeParams, dst: Expr) -> Expr {
    let ends = edge("rel").eq(param(index.rel)).and(edge("dst").eq(dst));
    match index.status {
        EdgeStatus::Of(status) => ends.and(edge("status").eq(param(status))),
        EdgeStatus::Unset => ends.and(edge("status").is_null()),
        EdgeStatus::Any => ends,
    }
}

fn expr(test: &Test<'_>, dialect: Dialect) -> Expr {
    match test {
        Test::All(tests) => joined(tests.iter().map(|test| expr(test, dialect)).collect(), Expr::and)
            .unwrap_or_else(|| Expr::cust("TRUE")),
        Test::Any(tests) => joined(tests.iter().map(|test| expr(test, dialect)).collect(), Expr::or)
            .unwrap_or_else(|| Expr::cust("FALSE")),
        Test::Not(test) => match &**test {
            Test::IsNull(by) => column(by).is_not_null(),
            test => dialect.is_true(expr(test, dialect), false),
        },
        Test::Compare(by, op, value) => compare(by, *op, *value),
        Test::AboveZero(by) => column(by).gt(Expr::cust("0")),
        Test::In(by, list) => dialect.is_in(column(by), by.ty, *list),
        Test::IsNull(by) => column(by).is_null(),
        Test::Contains(columns, needle) => columns
            .iter()
            .filter(|c| holds_text(c.ty))
            .map(|c| dialect.contains(readable(c), *needle, c.ty == ColumnType::Key))
            .reduce(|a, b| a.or(b))
            .unwrap_or_else(|| Expr::cust("FALSE")),
        Test::Same(columns, text) => columns
            .iter()
            .filter(|c| holds_text(c.ty))
            .map(|c| dialect.same(readable(c), *text))
            .reduce(|a, b| a.or(b))
            .unwrap_or_else(|| Expr::cust("FALSE")),
        Test::HasWord(by, word) => dialect.stands_in(readable(by), *word),
        Test::HasMember(by, list, number) => dialect.has_member(column(by), *list, &alias_name(*number)),
        Test::Related { table, inner, outer, filter } => {
            let mut select = Query::select();
            select.expr(Expr::cust("1")).from_as(Alias::new(&*table.def.name), alias(inner.alias));
            select.and_where(column(inner).eq(column(outer))).and_where(expr(filter, dialect));
            Expr::exists(select)
        }
        Test::Linked(linked) => linked_expr(linked, dialect),
        Test::LinkedTo(linked) => linked_to_expr(linked, dialect),
    }
}

/// SQLite's own words for the index of the first table, which the builder of statements does not have.
fn indexed_by(text: &str, index: &str) -> String {
    let first = format!("\"{}\"", alias_name(0));
    text.replacen(&format!("AS {first}"), &format!("AS {first} INDEXED BY \"{index}\""), 1)
}

/// Whether a condition is on other rows.
fn reads_rows(test: &Test<'_>) -> bool {
    match test {
        Test::Linked(_) | Test::LinkedTo(_) | Test::Related { .. } => true,
        Test::Not(test) => reads_rows(test),
        _ => false,
    }
}

/// A number contains no text.
fn holds_text(ty: ColumnType) -> bool {
    !matches!(ty, ColumnType::Int | ColumnType::Real)
}

/// Joins expressions pairwise, so that the tree is no deeper than it has to be: SQLite bounds its depth.
fn joined(mut list: Vec<Expr>, join: fn(Expr, Expr) -> Expr) -> Option<Expr> {
    while list.len() > 1 {
        let mut pairs = list.into_iter();
        let mut next = Vec::with_capacity(pairs.len().div_ceil(2));
        while let Some(first) = pairs.next() {
            next.push(match pairs.next() {
                Some(second) => join(first, second),
                None => first,
            });
        }
        list = next;
    }
    list.pop()
}

fn compare(by: &Column<'_>, op: Op, value: usize) -> Expr {
    let value = param(value);
    match op {
        Op::Eq => column(by).eq(value),
        Op::Ne => column(by).binary(BinOper::Custom("IS DISTINCT FROM"), value),
        Op::Lt => readable(by).lt(value),
        Op::Le => readable(by).lte(value),
        Op::Gt => readable(by).gt(value),
        Op::Ge => readable(by).gte(value),
    }
}

fn linked_expr(linked: &Linked<'_>, dialect: Dialect) -> Expr {
    let (near, far) = if linked.forward { ("src", "dst") } else { ("dst", "src") };
    let end = |name: &str| at(linked.alias, name);
    let other = match (dialect, linked.forward && !linked.gathered) {
        // The few edges of a row are found by its key, never among the many of a target.
        (Dialect::Sqlite, true) => Expr::cust_with_exprs("+?", [end(far)]),
        _ => end(far),
    };
    let ends = match linked.one {
        true => other.eq(param(linked.ends)),
        false => dialect.is_in(other, ColumnType::Int, linked.ends),
    };
    let mut select = Query::select();
    select.from_as("edge", alias(linked.alias)).and_where(end("rel").eq(param(linked.rel))).and_where(ends);
    if linked.gathered {
        select.expr(end(near));
        return column(&linked.key).in_subquery(select);
    }
    select.expr(Expr::cust("1")).and_where(end(near).eq(column(&linked.key)));
    Expr::exists(select)
}

fn linked_to_expr(linked: &LinkedTo<'_>, dialect: Dialect) -> Expr {
    let edge = |name: &str| at(linked.edges, name);
    let mut select = Query::select();
    select.from_as("edge", alias(linked.edges)).from_as(Alias::new(&*linked.table.def.name), alias(linked.end.alias));
    select.and_where(edge("rel").eq(param(linked.rel))).and_where(column(&linked.end).eq(edge("dst")));
    select.and_where(expr(&linked.filter, dialect));
    if linked.gathered {
        select.expr(edge("src"));
        return column(&linked.key).in_subquery(select);
    }
    select.expr(Expr::cust("1")).and_where(edge("src").eq(column(&linked.key)));
    Expr::exists(select)
}

/// The column as it is stored.
fn column(column: &Column<'_>) -> Expr {
    let stored = at(column.alias, column.name);
    match column.default {
        Some(default) => Expr::from(sea_query::Func::coalesce([stored, param(default)])),
        None => stored,
    }
}

/// The column as it is read: words by their names.
fn readable(by: &Column<'_>) -> Expr {
    if by.ty != ColumnType::Word {
        return column(by);
    }
    let mut select = Query::select();
    select.column("word").from("dictionary").and_where(Expr::col("number").eq(column(by)));
    Expr::SubQuery(None, Box::new(select.into()))
}

fn at(number: u32, name: &str) -> Expr {
    Expr::col((alias(number), Alias::new(name)))
}

fn edge(name: &'static str) -> Expr {
    Expr::col((EDGE, name))
}

fn alias(number: u32) -> Alias {
    Alias::new(alias_name(number))
}

fn alias_name(number: u32) -> String {
    format!("t{number}")
}
