import { Component } from 'react';
import type { ReactNode } from 'react';

import { Button } from '../components/button.tsx';
import { CannotLoad } from '../components/cannot-load.tsx';

interface Props {
  /** The page that is shown; the fault is that of this one only. The whole program without it. */
  readonly page?: string;
  readonly children: ReactNode;
}

interface State {
  readonly page: string | undefined;
  readonly fault: string | undefined;
}

/** Shows a fault of the page's own code in its place: the frame around it stays. */
export class PageBoundary extends Component<Props, State> {
  static getDerivedStateFromError(error: unknown): Pick<State, 'fault'> {
    return { fault: error instanceof Error ? error.message : String(error) };
  }

  static getDerivedStateFromProps({ page }: Props, state: State): State | null {
    return page === state.page ? null : { page, fault: undefined };
  }

  constructor(props: Props) {
    super(props);
    this.state = { page: props.page, fault: undefined };
  }

  override render(): ReactNode {
    const { fault } = this.state;
    if (fault === undefined) return this.props.children;
    const instead = (
      <CannotLoad
        icon="info"
        title="This page has a fault"
        fine={
          <>
            For a report: <code>{fault}</code>
          </>
        }
        actions={
          <Button look="primary" onClick={() => location.reload()}>
            Reload
          </Button>
        }
      >
        Something in it went wrong while it was drawn. Nothing was changed on the server. Other pages go on working.
      </CannotLoad>
    );
    return this.props.page === undefined ? <main>{instead}</main> : instead;
  }
}
