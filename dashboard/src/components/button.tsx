import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { Link } from 'wouter';

import { Icon } from './icon.tsx';
import type { IconName } from './icon.tsx';

type Look = 'primary' | 'danger' | 'danger-quiet' | 'ghost';

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'className'> {
  readonly look?: Look;
  readonly small?: boolean;
  readonly icon?: IconName;
  /** A single key that presses it while nobody types. */
  readonly shortcut?: string;
  /** Why it cannot be pressed; takes the place of its words. */
  readonly missing?: string | undefined;
  /** The safe button of a dialog, on which the focus starts. */
  readonly startsFocused?: boolean;
}

/** Names the act and the object; a disabled one says what is missing. */
export function Button({
  look,
  small = false,
  icon,
  shortcut,
  missing,
  startsFocused = false,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={classes(look, small, children === undefined)}
      aria-keyshortcuts={shortcut}
      disabled={rest.disabled === true || missing !== undefined}
      data-autofocus={startsFocused ? true : undefined}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {missing ?? children}
    </button>
  );
}

/** A link that looks like a button, because it leads to where the act is. */
export function ButtonLink({
  to,
  look,
  small = false,
  icon,
  children,
}: {
  readonly to: string;
  readonly look?: Look;
  readonly small?: boolean;
  readonly icon?: IconName;
  readonly children: ReactNode;
}) {
  return (
    <Link to={to} className={classes(look, small, false)}>
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </Link>
  );
}

function classes(look: Look | undefined, small: boolean, isIconOnly: boolean): string {
  return ['btn', look, small ? 'sm' : '', isIconOnly ? 'icon-only' : '']
    .filter((name) => (name ?? '') !== '')
    .join(' ');
}

/** One of a few, such as hour, day, week. */
export function ButtonGroup<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, string])[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    <div className="btn-group" role="group" aria-label={label}>
      {options.map(([each, words]) => (
        <button
          key={each}
          type="button"
          className="btn sm"
          aria-pressed={each === value}
          onClick={() => onChange(each)}
        >
          {words}
        </button>
      ))}
    </div>
  );
}

export function Switch({
  isOn,
  label,
  onChange,
  disabled = false,
}: {
  readonly isOn: boolean;
  readonly label: string;
  readonly onChange: (isOn: boolean) => void;
  readonly disabled?: boolean;
}) {
  return (
    <button
      type="button"
      className="switch"
      role="switch"
      aria-checked={isOn}
      aria-label={label}
      disabled={disabled}
      onClick={() => onChange(!isOn)}
    >
      <i />
      {isOn ? 'On' : 'Off'}
    </button>
  );
}
