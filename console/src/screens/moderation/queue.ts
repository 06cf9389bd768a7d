/** Where the screen of what waits stands in for the list; apart, as it is loaded when it is shown. */

import { statesOf } from "../../api";
import type { Resource } from "../../api/description";
import { verdictsOf } from "../../model/moderation";
import { place } from "../../router";

/** What an address says of the list itself: then the list is shown. */
const OF_LIST = /(^|&)(layout|f|sort|columns)=/;

/** Who does not look after the records sees those that are public, as a list. */
export function isQueue(resource: Resource): boolean {
  return resource.group !== "" && resource.key !== null && resource.parent === null && !OF_LIST.test(place.value.search) && verdictsOf(resource, statesOf(resource)) !== null;
}
