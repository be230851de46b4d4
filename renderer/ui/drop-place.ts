/** A place in the window where files are dropped. */
import { useState, type DragEvent } from 'react';

interface DropPlace {
  /** Set while something is held over the place; styles follow it. */
  readonly 'data-over': true | undefined;
  readonly onDragOver: (event: DragEvent) => void;
  readonly onDragLeave: (event: DragEvent) => void;
  readonly onDrop: (event: DragEvent) => void;
}

/** @returns the attributes of the element. One that is disabled keeps the browser from opening what is dropped, and takes nothing. */
export function useDropPlace(take: (files: FileList) => void, disabled = false): DropPlace {
  const [isOver, setOver] = useState(false);
  const over = (event: DragEvent, to: boolean): void => {
    event.preventDefault();
    setOver(to && !disabled);
  };
  return {
    'data-over': isOver || undefined,
    onDragOver: (event) => {
      over(event, true);
    },
    onDragLeave: (event) => {
      over(event, false);
    },
    onDrop: (event) => {
      over(event, false);
      if (!disabled) take(event.dataTransfer.files);
    },
  };
}
