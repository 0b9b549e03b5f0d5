import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';

const { Root, Trigger, Portal, Content, Item, Group, Label, CheckboxItem, RadioGroup, RadioItem } = DropdownMenu;
const PARTS = { Root, Trigger, Portal, Content, Item, Group, Label, CheckboxItem, RadioGroup, RadioItem };

export type MenuParts = typeof PARTS;

/** The library's parts of a menu, a tenth of all code: in a file of their own, so that they are loaded with the first menu. */
export const WithMenuParts = ({ children }: { children: (parts: MenuParts) => ReactNode }) => children(PARTS);
