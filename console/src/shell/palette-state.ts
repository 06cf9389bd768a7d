/** Whether the command palette is open; apart, so that the palette is loaded when it is used. */

import { signal } from "@preact/signals";

export const paletteOpen = signal(false);
