/**
 * Pages of a list: by cursor where the server knows the next row, so that the last page costs what the first does; else
 * by number.
 */

import type { Adapter, Options, Page } from "../api/adapter";
import type { Resource } from "../api/description";
import { Failure } from "../api/failure";
import type { Query } from "../api/query";

const FORBIDDEN_CONTEXT = "rest_forbidden_context";

export class Pager {
  /** Cursors by the number of the page that they lead to. */
  private cursors = new Map<number, string>([[1, ""]]);
  private walk = "";
  /** Orders in which the server knows no next row. */
  private readonly unwalkable = new Set<string>();
  private context: string | null = "edit";

  constructor(
    private readonly adapter: Pick<Adapter, "list">,
    private readonly resource: Resource,
  ) {}

  /** A page of what the query selects. */
  async page(query: Query, number: number, options: Options = {}): Promise<Page> {
    const walk = JSON.stringify(query);
    if (walk !== this.walk) {
      this.walk = walk;
      this.cursors = new Map([[1, ""]]);
    }
    const order = JSON.stringify([query["orderby"], query["order"], query["order_by"]]);
    const cursor = this.paged(query) && !this.unwalkable.has(order) ? this.cursors.get(number) : undefined;
    const place: Query = cursor !== undefined ? { _cursor: cursor } : this.paged(query) && number > 1 ? { page: number } : {};
    try {
      const page = await this.adapter.list(this.resource, { ...query, ...this.contextOf(query), ...place }, options);
      if (walk === this.walk && page.next !== null) this.cursors.set(number + 1, page.next);
      return page;
    } catch (error) {
      if (error instanceof Failure && this.learn(error, order)) return this.page(query, number, options);
      throw error;
    }
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
