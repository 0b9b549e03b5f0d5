import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';

const { Root, Trigger, Portal, Content, Item, Group, Label, CheckboxItem, RadioGroup, RadioItem } = DropdownMenu;
const PARTS = { Root, Trigger, Portal, Content, Item, Group, Label, CheckboxItem, RadioGroup, RadioItem };

export type MenuParts = typeof PARTS;

/** The library's parts of a menu are a tenth of all code. They have a file of their own, to be loaded with the first menu. */
export const WithMenuParts = ({ children }: { children: (parts: MenuParts) => ReactNode }) => children(PARTS);
