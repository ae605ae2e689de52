function yes = rpisim_display()
% rpisim_display  Is there a display to draw on?
  yes = ispc() || ismac() || ~isempty(getenv('DISPLAY')) || ~isempty(getenv('WAYLAND_DISPLAY'));
end
