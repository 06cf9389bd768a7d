/** Changes of several records, each with values of its own, in as few requests as the server takes. */

import type { Api } from "./index";
import { type BatchResult, type Id, type Item, type Params, readBatch } from "./adapter";
import { touched } from "./changes";
import type { Resource } from "./description";
import { Failure } from "./failure";
import { fillPath } from "./query";

export interface EachChange {
  id: Id;
  values: Item;
}

/** Requests in a batch. */
const MOST = 25;

/** Changes the records in their order. A part that fails is in the answer; the parts after it are not tried. */
export async function updateEach({ http, adapter }: Pick<Api, "http" | "adapter">, resource: Resource, changes: readonly EachChange[], params: Params = {}): Promise<BatchResult> {
  const operation = resource.operations["update"];
  const { key } = resource;
  if (operation === undefined || key === null) throw new Failure(403, { message: resource.label });
  const result: BatchResult = { done: [], failed: [] };
  try {
    for (let start = 0; start < changes.length && result.failed.length === 0; start += operation.batch ? MOST : 1) {
      const part = changes.slice(start, start + (operation.batch ? MOST : 1));
      if (operation.batch) {
        const requests = part.map(({ id, values }) => ({ method: operation.method, path: fillPath(operation.path, { ...params, [key]: id }), body: values }));
        const answer = await http.request(http.boot.batch, { method: "POST", body: { requests } });
        readBatch(part.map(({ id }) => id), answer.data, result);
      } else {
        for (const { id, values } of part) result.done.push({ id, item: (await adapter.update(resource, id, values, { params })).item });
      }
    }
  } finally {
    touched(resource.name);
  }
  return result;
}
