/**
 * Pages of a list: by cursor where the server knows the next row, from the first page on and from the last one back, so that
 * the last page costs what the first does; else by number.
 */

import type { Adapter, Options, Page } from "../api/adapter";
import type { Resource } from "../api/description";
import { Failure } from "../api/failure";
import type { Query } from "../api/query";
import { reversed } from "./list-query";

const FORBIDDEN_CONTEXT = "rest_forbidden_context";
const MOST_KEPT = 20;

/** A request for a page. `backwards`: its records come in the opposite order. */
interface Way {
  query: Query;
  cursors: Map<number, string> | null;
  backwards: boolean;
}

export class Pager {
  /** Cursors by the number of the page that they lead to. */
  private cursors = new Map<number, string>([[1, ""]]);
  /** The same in the opposite order: they lead to the page before. */
  private back = new Map<number, string>();
  private walk = "";
  /** Orders in which the server knows no next row. */
  private readonly unwalkable = new Set<string>();
  private context: string | null = "edit";

  constructor(
    private readonly adapter: Pick<Adapter, "list">,
    private readonly resource: Resource,
  ) {}

  /** A page of what the query selects. `total`: how many records that are, where somebody knows. */
  async page(query: Query, number: number, options: Options = {}, total: number | null = null): Promise<Page> {
    const walk = JSON.stringify(query);
    if (walk !== this.walk) {
      this.walk = walk;
      this.cursors = new Map([[1, ""]]);
      this.back = new Map();
    }
    const way = this.way(query, number, total);
    try {
      const page = await this.adapter.list(this.resource, { ...way.query, ...this.contextOf(query) }, options);
      if (walk === this.walk && page.next !== null) way.cursors?.set(way.backwards ? number - 1 : number + 1, page.next);
      return way.backwards ? { ...page, items: page.items.toReversed(), next: null, more: number < this.last(query, total) } : page;
    } catch (error) {
      if (error instanceof Failure && this.learn(error, orderOf(way.query))) return this.page(query, number, options, total);
      throw error;
    }
  }

  private way(query: Query, number: number, total: number | null): Way {
    if (!this.paged(query)) return { query, cursors: null, backwards: false };
    const cursor = this.walkable(query) ? this.cursors.get(number) : undefined;
    if (cursor !== undefined) return { query: { ...query, _cursor: cursor }, cursors: this.cursors, backwards: false };
    return this.wayBack(query, number, total) ?? { query: { ...query, page: number > 1 ? number : undefined }, cursors: this.cursors, backwards: false };
  }

  /** From the last page, or from the page behind. The last page has what is left over. */
  private wayBack(query: Query, number: number, total: number | null): Way | null {
    const back = reversed(query);
    if (back === null || !this.walkable(back)) return null;
    const last = this.last(query, total);
    const cursor = number === last ? "" : this.back.get(number);
    if (cursor === undefined) return null;
    const size = Number(query["per_page"]);
    const left = number === last && total !== null ? total - (last - 1) * size : size;
    return { query: { ...back, per_page: left, _cursor: cursor }, cursors: this.back, backwards: true };
  }

  /** The number of the last page; infinite where nobody has counted. */
  private last(query: Query, total: number | null): number {
    return total === null || total === 0 ? Number.POSITIVE_INFINITY : Math.ceil(total / Number(query["per_page"]));
  }

  private walkable(query: Query): boolean {
    return !this.unwalkable.has(orderOf(query));
  }

  /** What an error says of later requests; false: nothing, it is an error. */
  private learn(error: Failure, order: string): boolean {
    if ("_cursor" in error.params && !this.unwalkable.has(order)) {
      this.unwalkable.add(order);
      return true;
    }
    if (error.code === FORBIDDEN_CONTEXT && this.context !== null) {
      this.context = null;
      return true;
    }
    return false;
  }

  private paged(query: Query): boolean {
    return query["per_page"] !== undefined;
  }

  private contextOf(query: Query): Query {
    return query["context"] === undefined ? {} : { context: this.context };
  }
}

function orderOf(query: Query): string {
  return JSON.stringify([query["orderby"], query["order"], query["order_by"]]);
}

/** Pagers by list: somebody who comes back to a page far behind gets it by its cursor. */
const pagers = new WeakMap<Pick<Adapter, "list">, Map<string, Pager>>();

export function pagerOf(adapter: Pick<Adapter, "list">, resource: Resource, params: object): Pager {
  const own = pagers.get(adapter) ?? new Map<string, Pager>();
  pagers.set(adapter, own);
  const key = JSON.stringify([resource.name, params]);
  const pager = own.get(key) ?? new Pager(adapter, resource);
  own.delete(key);
  own.set(key, pager);
  for (const oldest of own.keys()) {
    if (own.size <= MOST_KEPT) break;
    own.delete(oldest);
  }
  return pager;
}
