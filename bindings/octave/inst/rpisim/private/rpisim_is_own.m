function own = rpisim_is_own(f)
% rpisim_is_own  Is this function the user's? Not if it is a name without a function, or one with a file of this folder.
  own = false;
  if ischar(f)
    return
  end
  name = strrep(func2str(f), '@', '');
  if isempty(regexp(name, '^\w+$', 'once'))
    own = true; % anonymous
    return
  end
  place = which(name);
  if isempty(place)
    info = functions(f); % a function within a file has no place, but its file has
    own = isfield(info, 'file') && ~isempty(info.file);
  else
    own = isempty(strfind(place, fileparts(fileparts(mfilename('fullpath')))));
  end
end
