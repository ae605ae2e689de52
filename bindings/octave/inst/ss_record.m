function ss_record(w, path, every)
% ss_record(w, path, every)   records a simulation as frames in an HDF5 file
%
% ss_record(w, 'run.h5') begins: every step from now on becomes a frame with its answer, its metrics and
% the shapes for `stickslip view`. ss_record(w, 'run.h5', 10) records every tenth step.
% ss_record(w) ends it and puts the file in its place.
%
% Example:
%   w = ss_world('sphere-drop');
%   ss_record(w, 'drop.h5');
%   ss_step(w, 100);
%   ss_record(w);
%
% See also ss_step
  if nargin == 1
    stickslip_mex('world_record', w.id);
    return
  end
  ss_begin(w);
  if nargin < 3
    every = 1;
  end
  stickslip_mex('world_record', w.id, path, every);
end
