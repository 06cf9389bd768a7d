/** Keeps an error in one screen from taking the whole console away. */

import { Component, type ComponentChildren, type JSX } from "preact";
import { Failed } from "../ui";

interface State {
  error: unknown;
}

export class Boundary extends Component<{ children?: ComponentChildren }, State> {
  override state: State = { error: null };

  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ error });
  }

  override render(): JSX.Element | ComponentChildren {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return <Failed error={error} onRetry={() => this.setState({ error: null })} />;
  }
}
