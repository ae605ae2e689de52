function yes = rpisim_display()
% rpisim_display  Is there a display to draw on?
  yes = ispc() || ismac() || ~isempty(getenv('DISPLAY')) || ~isempty(getenv('WAYLAND_DISPLAY'));
  if yes && exist('available_graphics_toolkits') % Octave without any
    yes = ~isempty(feval('available_graphics_toolkits'));
  end
end
